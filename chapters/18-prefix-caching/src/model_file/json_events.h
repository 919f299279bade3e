// JSON read as a stream of events, so that memory stays bounded however the text is nested. A handler keeps
// what it wants and nothing else is stored; a tree of values would take twenty times the bytes of a hostile
// file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace rung {

struct JsonScalar {
  enum class Kind : uint8_t { null, boolean, integer, real, string };
  Kind kind = Kind::null;
  bool boolean = false;
  bool negative = false;   // integer: value = negative ? -magnitude : magnitude
  uint64_t magnitude = 0;  // integer
  double real = 0;         // real, and integer as well: the value as a double
  std::string text;        // string: its bytes, escapes decoded; real: as the file spells it
};

// For errors: `the string "abc"`, `true`, `-3`, `1.5`, `null`.
std::string describe(const JsonScalar& scalar);

// What a JSON text holds, in order. A handler throws Error to refuse what it reads.
class JsonEvents {
 public:
  virtual ~JsonEvents() = default;
  virtual void begin(bool object) = 0;  // { or [
  virtual void end(bool object) = 0;    // } or ]
  virtual void key(std::string&& name) = 0;
  virtual void scalar(JsonScalar&& value) = 0;
};

// Reads one JSON value that is the whole of `text`. Throws Error starting with `where` and naming the byte if
// the text is not valid JSON (RFC 8259, valid UTF-8), goes on behind the value, or nests deeper than
// max_depth.
void read_json(std::string_view text, const std::string& where, int max_depth, JsonEvents& events);

}  // namespace rung
