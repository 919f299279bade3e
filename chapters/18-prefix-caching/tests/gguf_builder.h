// Writes GGUF files byte by byte, right ones and wrong ones: nothing that it appends is checked.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "model_file/gguf_value.h"

namespace rung::testing {

class GgufBuilder {
 public:
  const std::string& bytes() const { return bytes_; }
  size_t size() const { return bytes_.size(); }

  GgufBuilder& raw(std::string_view bytes);
  GgufBuilder& fill(size_t count, char byte = 0);
  GgufBuilder& align(size_t alignment = 32);  // zeros up to the next multiple
  // A number, lowest byte first.
  template <class T>
  GgufBuilder& number(T value) {
    char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));  // tests run on little-endian machines
    return raw({bytes, sizeof(T)});
  }
  GgufBuilder& string(std::string_view text);  // its length and its bytes

  GgufBuilder& header(uint64_t tensors, uint64_t entries, uint32_t version = 3);
  // The start of an entry; the value follows by other calls.
  GgufBuilder& key(std::string_view key, GgufType type);
  GgufBuilder& array(std::string_view key, GgufType element_type, uint64_t size);
  // A whole entry, its type taken from value's.
  template <class T>
  GgufBuilder& entry(std::string_view key_text, T value) {
    if constexpr (std::is_arithmetic_v<T>) {
      return key(key_text, type_of(GgufValue(std::in_place_type<T>, value))).number(value);
    } else {
      return key(key_text, GgufType::string).string(value);
    }
  }

  // An entry of the tensor directory; dims innermost first, as in the file.
  GgufBuilder& tensor(std::string_view name, const std::vector<uint64_t>& dims, uint32_t type,
                      uint64_t offset);

 private:
  std::string bytes_;
};

}  // namespace rung::testing
