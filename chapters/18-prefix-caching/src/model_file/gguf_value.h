// The values that GGUF metadata can hold: 13 types, one of which is an array of any of them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model_file/byte_reader.h"

namespace rung {

// As numbered in the file.
enum class GgufType : uint32_t {
  uint8 = 0,
  int8 = 1,
  uint16 = 2,
  int16 = 3,
  uint32 = 4,
  int32 = 5,
  float32 = 6,
  boolean = 7,
  string = 8,
  array = 9,
  uint64 = 10,
  int64 = 11,
  float64 = 12,
};

const char* name(GgufType type);  // "UINT8", "STRING"
// Bytes that a value takes in the file; 0 for strings and arrays, whose size is not fixed.
size_t fixed_bytes(GgufType type);

// How deep arrays may stand inside arrays. No published model nests them at all and ggml refuses to read one
// that does, so 8 is generous, and it bounds the recursion that a file can cause.
constexpr int kGgufMaxNesting = 8;

class GgufArray;
// The alternatives stand in the order of GgufType, so that index() is the type.
using GgufValue = std::variant<uint8_t, int8_t, uint16_t, int16_t, uint32_t, int32_t, float, bool,
                               std::string_view, GgufArray, uint64_t, int64_t, double>;

// An array, left where it stands in the file: its elements have been checked but not copied, so it costs no
// memory however long it is.
class GgufArray {
 public:
  GgufArray(GgufType element_type, uint64_t size, Span<const uint8_t> bytes)
      : element_type_(element_type), size_(size), bytes_(bytes) {}

  GgufType element_type() const { return element_type_; }
  uint64_t size() const { return size_; }

  // Calls visit for the first `limit` elements (all if there are fewer) in order.
  void for_each(const std::function<void(const GgufValue&)>& visit, uint64_t limit = UINT64_MAX) const;
  // All elements of an array of strings. Throws Error if it is one of something else.
  std::vector<std::string_view> strings() const;

 private:
  GgufType element_type_;
  uint64_t size_;
  Span<const uint8_t> bytes_;  // the elements, as in the file
};

inline GgufType type_of(const GgufValue& value) {
  return static_cast<GgufType>(value.index());
}
// For people: "UINT32", "ARRAY of STRING".
std::string type_name(const GgufValue& value);

// Reads a value's type (a uint32) and the value. key is for errors. Throws Error if the type is unknown, a
// boolean is neither 0 nor 1, arrays nest deeper than kGgufMaxNesting, or the file ends too early.
GgufValue read_gguf_value(ByteReader& reader, std::string_view key);

}  // namespace rung
