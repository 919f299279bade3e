#include "tests/reference.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "rung/error.h"
#include "testing/fixture.h"

namespace rung::testing {

Reference::Reference(const std::string& name) : name_(name) {
  const auto json = nlohmann::json::parse(read_file(fixture_path(name + ".json")));
  const std::vector<float> values = read_floats(fixture_path(name + ".f32"));
  for (const auto& [array, place] : json.at("arrays").items()) {
    const auto sizes = place.at("shape").get<std::vector<int64_t>>();
    const Shape shape(sizes.data(), static_cast<int>(sizes.size()));
    const size_t begin = place.at("offset").get<size_t>(), count = static_cast<size_t>(shape.elements());
    if (begin + count > values.size()) fail("fixture ", name, ": array ", array, " reaches past the file");
    arrays_[array] = tensor_of({values.begin() + static_cast<std::ptrdiff_t>(begin),
                                values.begin() + static_cast<std::ptrdiff_t>(begin + count)},
                               shape);
  }
  if (!json.contains("prompts")) return;
  for (const auto& prompt : json.at("prompts")) {
    prompts_[prompt.at("name").get<std::string>()] = prompt.at("ids").get<std::vector<int32_t>>();
  }
}

Tensor Reference::array(const std::string& name) const {
  const auto found = arrays_.find(name);
  if (found == arrays_.end()) fail("fixture ", name_, " has no array ", name);
  return found->second;
}

Tensor Reference::prompt(const std::string& name) const {
  const auto found = prompts_.find(name);
  if (found == prompts_.end()) fail("fixture ", name_, " has no prompt ", name);
  return tensor_of(found->second);
}

Tensor tensor_of(const std::vector<float>& values, const Shape& shape) {
  if (shape.elements() != static_cast<int64_t>(values.size())) {
    fail(values.size(), " values do not fill a tensor of shape ", shape.text());
  }
  Tensor tensor = Tensor::host(DType::f32, shape);
  std::copy(values.begin(), values.end(), tensor.data<float>());
  return tensor;
}

Tensor tensor_of(const std::vector<int32_t>& values) {
  Tensor tensor = Tensor::host(DType::i32, {static_cast<int64_t>(values.size())});
  std::copy(values.begin(), values.end(), tensor.data<int32_t>());
  return tensor;
}

}  // namespace rung::testing
