// Values that Hugging Face transformers computed for a fixture model: named arrays of float32, and prompts.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tensor/tensor.h"

namespace rung::testing {

class Reference {
 public:
  // The fixture NAME.json with NAME.f32 in tests/fixtures.
  explicit Reference(const std::string& name);

  // A named array. Throws Error if there is none.
  Tensor array(const std::string& name) const;
  bool has(const std::string& name) const { return arrays_.count(name) > 0; }
  // The ids of a named prompt, [tokens] i32.
  Tensor prompt(const std::string& name) const;

 private:
  std::string name_;
  std::map<std::string, Tensor> arrays_;
  std::map<std::string, std::vector<int32_t>> prompts_;
};

// A host tensor of these values.
Tensor tensor_of(const std::vector<float>& values, const Shape& shape);
Tensor tensor_of(const std::vector<int32_t>& values);

}  // namespace rung::testing
