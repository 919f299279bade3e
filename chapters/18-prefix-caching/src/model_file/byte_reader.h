// A cursor over the bytes of a file. Every read first checks that the bytes are there, and an error says
// where in the file it happened and which field was being read.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "rung/error.h"
#include "rung/span.h"

namespace rung {

// The number of type T (an integer, float or double) stored at `bytes`, lowest byte first. The address need
// not be aligned. Precondition: sizeof(T) bytes are there.
template <class T>
T load_little_endian(const uint8_t* bytes) {
  uint64_t bits = 0;
  for (size_t i = 0; i < sizeof(T); ++i) bits |= static_cast<uint64_t>(bytes[i]) << (8 * i);
  if constexpr (sizeof(T) == 8) {
    T value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  } else if constexpr (sizeof(T) == 4) {
    const uint32_t low = static_cast<uint32_t>(bits);
    T value;
    std::memcpy(&value, &low, sizeof value);
    return value;
  } else {
    return static_cast<T>(bits);
  }
}

// What is being read, for errors: a name, and where it helps the key or tensor that it belongs to. Costs
// nothing to make, so that a read which succeeds builds no text.
struct Field {
  Field(const char* field_name, std::string_view owner = {}) : name(field_name), of(owner) {}
  std::string text() const;  // `the version`, `the value of "general.name"`

  const char* name;
  std::string_view of;
};

class ByteReader {
 public:
  // source names the bytes in errors, usually by the file's path; it and the bytes must outlive the reader.
  ByteReader(Span<const uint8_t> bytes, std::string_view source) : bytes_(bytes), source_(source) {}

  std::string_view source() const { return source_; }
  uint64_t offset() const { return offset_; }
  uint64_t remaining() const { return bytes_.size() - offset_; }

  // The next `count` bytes. Throws Error if fewer remain.
  Span<const uint8_t> take(uint64_t count, const Field& field);

  // The next number, lowest byte first. Throws Error if the file ends before it does.
  template <class T>
  T read(const Field& field) {
    return load_little_endian<T>(take(sizeof(T), field).data());
  }

  // A length as uint64 and then that many bytes; the view points into the file.
  std::string_view read_string(const Field& field);

  // Throws Error unless `count` things of at least `least_bytes` each can still follow: call it before memory
  // is allocated for them or the two are multiplied.
  void check_count(uint64_t count, uint64_t least_bytes, const Field& field) const;

  // Throws Error: source, offset, then the parts.
  template <class... Parts>
  [[noreturn]] void fail_at(uint64_t offset, const Parts&... parts) const {
    fail(source_, ": offset ", offset, ": ", parts...);
  }

 private:
  Span<const uint8_t> bytes_;
  std::string_view source_;
  uint64_t offset_ = 0;
};

}  // namespace rung
