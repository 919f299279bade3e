// The values that another implementation computed for a fixture model: tests/fixtures/NAME.json with its
// arrays in NAME.f32.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rung/span.h"

namespace rung::testing {

class ModelReference {
 public:
  explicit ModelReference(const std::string& name);  // "qwen3"

  struct Prompt {
    std::string name;                 // "len7"
    std::vector<int32_t> ids;         // the prompt
    std::vector<int32_t> output_ids;  // greedy continuation, end tokens ignored
  };
  const std::vector<Prompt>& prompts() const { return prompts_; }
  const Prompt& prompt(const std::string& name) const;  // throws Error if there is none

  bool has(const std::string& array) const;
  // "len7/logits", "len7/q_rope", …; throws Error if there is none.
  Span<const float> array(const std::string& name) const;
  std::vector<int64_t> shape(const std::string& name) const;

 private:
  struct Entry {
    std::string name;
    size_t offset, size;
    std::vector<int64_t> shape;
  };
  const Entry& entry(const std::string& name) const;

  std::string source_;
  std::vector<Prompt> prompts_;
  std::vector<Entry> entries_;
  std::vector<float> values_;
};

// tests/reference/smollm2_greedy.json: greedy continuations of the default model.
struct GreedyCase {
  std::string prompt, text;
  std::vector<int32_t> ids, output_ids;
  std::vector<std::pair<int32_t, float>> first_top5;  // id, logit
};
std::vector<GreedyCase> default_model_cases();

}  // namespace rung::testing
