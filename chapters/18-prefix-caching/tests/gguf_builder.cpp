// Appending to a GGUF file under test.
#include "tests/gguf_builder.h"

namespace rung::testing {

GgufBuilder& GgufBuilder::raw(std::string_view bytes) {
  bytes_ += bytes;
  return *this;
}

GgufBuilder& GgufBuilder::fill(size_t count, char byte) {
  bytes_.append(count, byte);
  return *this;
}

GgufBuilder& GgufBuilder::align(size_t alignment) {
  return fill((alignment - bytes_.size() % alignment) % alignment);
}

GgufBuilder& GgufBuilder::string(std::string_view text) {
  return number<uint64_t>(text.size()).raw(text);
}

GgufBuilder& GgufBuilder::header(uint64_t tensors, uint64_t entries, uint32_t version) {
  return raw("GGUF").number(version).number(tensors).number(entries);
}

GgufBuilder& GgufBuilder::key(std::string_view key, GgufType type) {
  return string(key).number(static_cast<uint32_t>(type));
}

GgufBuilder& GgufBuilder::array(std::string_view key_text, GgufType element_type, uint64_t size) {
  return key(key_text, GgufType::array).number(static_cast<uint32_t>(element_type)).number(size);
}

GgufBuilder& GgufBuilder::tensor(std::string_view name, const std::vector<uint64_t>& dims, uint32_t type,
                                 uint64_t offset) {
  string(name).number(static_cast<uint32_t>(dims.size()));
  for (uint64_t size : dims) number(size);
  return number(type).number(offset);
}

}  // namespace rung::testing
