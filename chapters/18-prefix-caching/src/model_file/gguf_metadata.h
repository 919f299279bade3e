// The first half of a GGUF file: the header, and the metadata as key/value pairs in the file's order with an
// index. Strings and arrays are views into the file's bytes, which must stay mapped as long as they are used.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model_file/gguf_value.h"

namespace rung {

struct GgufHeader {
  static constexpr uint32_t kMagic = 0x46554747;  // the bytes "GGUF", read as a little-endian number

  uint32_t version = 0;  // 2 or 3, which differ only in that 3 may be big-endian
  uint64_t tensor_count = 0;
  uint64_t metadata_count = 0;
};

struct GgufEntry {
  std::string_view key;
  GgufValue value;
};

// Getters throw Error naming file, key, what was found and what was expected; those ending in _or give
// `fallback` if there is no such key (a value of the wrong type is still an error). Integer getters accept
// every integer type if the value fits, float getters FLOAT32 and FLOAT64.
class GgufMetadata {
 public:
  // Throws Error if a key stands there twice. source names the file in errors.
  GgufMetadata(std::string source, GgufHeader header, std::vector<GgufEntry> entries);

  const std::string& source() const { return source_; }
  const GgufHeader& header() const { return header_; }
  const std::vector<GgufEntry>& entries() const { return entries_; }  // in the file's order

  const GgufValue* find(std::string_view key) const;  // null if there is none
  bool has(std::string_view key) const { return find(key) != nullptr; }

  uint32_t get_u32(std::string_view key) const;
  int32_t get_i32(std::string_view key) const;
  uint64_t get_u64(std::string_view key) const;
  int64_t get_i64(std::string_view key) const;
  float get_f32(std::string_view key) const;
  bool get_bool(std::string_view key) const;
  std::string_view get_string(std::string_view key) const;
  std::vector<std::string_view> get_strings(std::string_view key) const;
  std::vector<int32_t> get_i32s(std::string_view key) const;
  std::vector<uint32_t> get_u32s(std::string_view key) const;
  std::vector<float> get_f32s(std::string_view key) const;

  uint32_t get_u32_or(std::string_view key, uint32_t fallback) const;
  int32_t get_i32_or(std::string_view key, int32_t fallback) const;
  uint64_t get_u64_or(std::string_view key, uint64_t fallback) const;
  int64_t get_i64_or(std::string_view key, int64_t fallback) const;
  float get_f32_or(std::string_view key, float fallback) const;
  bool get_bool_or(std::string_view key, bool fallback) const;
  std::string_view get_string_or(std::string_view key, std::string_view fallback) const;
  std::vector<std::string_view> get_strings_or(std::string_view key,
                                               std::vector<std::string_view> fallback) const;
  std::vector<int32_t> get_i32s_or(std::string_view key, std::vector<int32_t> fallback) const;
  std::vector<uint32_t> get_u32s_or(std::string_view key, std::vector<uint32_t> fallback) const;
  std::vector<float> get_f32s_or(std::string_view key, std::vector<float> fallback) const;

 private:
  const GgufValue& require(std::string_view key, const char* expected) const;
  [[noreturn]] void fail_type(std::string_view key, const GgufValue& value, const char* expected) const;
  template <class T>
  T as(std::string_view key, const GgufValue& value) const;
  template <class T>
  T get(std::string_view key) const;
  template <class T>
  T get_or(std::string_view key, T fallback) const;

  std::string source_;
  GgufHeader header_;
  std::vector<GgufEntry> entries_;
  std::vector<size_t> by_key_;  // positions in entries_, sorted by key
};

// Reads header and metadata; the reader then stands behind them, at the tensor directory. Throws Error with
// one line naming the offset and the field if it is no GGUF file of version 2 or 3, little-endian, whole and
// free of duplicates.
GgufMetadata read_gguf_metadata(ByteReader& reader);

}  // namespace rung
