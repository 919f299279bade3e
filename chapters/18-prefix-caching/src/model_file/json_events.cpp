// The JSON parser (nlohmann's, in its event mode) behind Rung's limits and error messages.
#include "model_file/json_events.h"

#include <nlohmann/json.hpp>

#include "rung/error.h"

namespace rung {

namespace {

// Passes nlohmann's SAX events on.
class Adapter {
 public:
  Adapter(const std::string& where, int max_depth, JsonEvents& events)
      : where_(where), max_depth_(max_depth), events_(events) {}

  bool null() { return pass(JsonScalar{}); }
  bool boolean(bool value) {
    JsonScalar scalar;
    scalar.kind = JsonScalar::Kind::boolean;
    scalar.boolean = value;
    return pass(std::move(scalar));
  }
  bool number_integer(int64_t value) {
    return integer(value < 0, value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value));
  }
  bool number_unsigned(uint64_t value) { return integer(false, value); }
  bool number_float(double value, const std::string& text) {
    JsonScalar scalar;
    scalar.kind = JsonScalar::Kind::real;
    scalar.real = value;
    scalar.text = text;
    return pass(std::move(scalar));
  }
  bool string(std::string& value) {
    JsonScalar scalar;
    scalar.kind = JsonScalar::Kind::string;
    scalar.text = std::move(value);
    return pass(std::move(scalar));
  }
  bool binary(std::vector<uint8_t>&) { return false; }  // JSON text has none

  bool start_object(size_t) { return begin(true); }
  bool start_array(size_t) { return begin(false); }
  bool end_object() { return end(true); }
  bool end_array() { return end(false); }
  bool key(std::string& name) {
    events_.key(std::move(name));
    return true;
  }

  bool parse_error(size_t position, const std::string&, const nlohmann::json::exception& error) {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: <reason>; last read: '<token>'". The
    // token may be as long as the file.
    std::string_view reason = error.what();
    reason = reason.substr(0, 2000);
    if (const size_t at = reason.find("; last read"); at != reason.npos) reason = reason.substr(0, at);
    if (const size_t at = reason.find("column "); at != reason.npos) {
      const size_t colon = reason.find(": ", at);
      if (colon != reason.npos) reason = reason.substr(colon + 2);
    } else if (const size_t bracket = reason.find("] "); bracket != reason.npos) {
      reason = reason.substr(bracket + 2);
    }
    fail(where_, ": is not valid JSON: byte ", position, ": ", escaped(reason.substr(0, 160)));
  }

 private:
  bool integer(bool negative, uint64_t magnitude) {
    JsonScalar scalar;
    scalar.kind = JsonScalar::Kind::integer;
    scalar.negative = negative;
    scalar.magnitude = magnitude;
    scalar.real = negative ? -static_cast<double>(magnitude) : static_cast<double>(magnitude);
    return pass(std::move(scalar));
  }
  bool pass(JsonScalar&& scalar) {
    events_.scalar(std::move(scalar));
    return true;
  }
  bool begin(bool object) {
    if (++depth_ > max_depth_) fail(where_, ": objects and arrays nest deeper than ", max_depth_, " levels");
    events_.begin(object);
    return true;
  }
  bool end(bool object) {
    --depth_;
    events_.end(object);
    return true;
  }

  const std::string& where_;
  int max_depth_;
  int depth_ = 0;
  JsonEvents& events_;
};

// A string or number in JSON of this many bytes is no name, type or size; and the parser, which makes several
// copies of the one where it finds an error, could otherwise need ten times the text.
constexpr size_t kMaxToken = size_t{1} << 18;

void refuse_long_tokens(std::string_view text, const std::string& where) {
  size_t start = 0;
  bool in_string = false, escape = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (escape) {
        escape = false;
      } else if (c == '\\') {
        escape = true;
      } else if (c == '"') {
        in_string = false;
        start = i + 1;
      }
    } else if (c == '"') {
      in_string = true;
      start = i;
    } else if (std::string_view(" \t\r\n,:[]{}").find(c) != std::string_view::npos) {
      start = i + 1;
    }
    if (i - start + 1 > kMaxToken && i >= start) {
      fail(where, ": byte ", start, " starts a ", in_string ? "string" : "number or word", " of more than ",
           kMaxToken, " bytes");
    }
  }
}

}  // namespace

std::string describe(const JsonScalar& scalar) {
  switch (scalar.kind) {
    case JsonScalar::Kind::null:
      return "null";
    case JsonScalar::Kind::boolean:
      return scalar.boolean ? "true" : "false";
    case JsonScalar::Kind::integer:
      return (scalar.negative ? "-" : "") + std::to_string(scalar.magnitude);
    case JsonScalar::Kind::real:
      return scalar.text.size() <= 40 ? scalar.text : scalar.text.substr(0, 40) + "…";
    case JsonScalar::Kind::string:
      return "the string " + rung::quoted(scalar.text);
  }
  return "";
}

void read_json(std::string_view text, const std::string& where, int max_depth, JsonEvents& events) {
  // The parser takes a NUL for the end of the text and a byte order mark for nothing; JSON allows neither.
  if (const size_t nul = text.find('\0'); nul != text.npos) {
    fail(where, ": is not valid JSON: byte ", nul, " is NUL");
  }
  if (text.substr(0, 3) == "\xef\xbb\xbf") {
    fail(where, ": is not valid JSON: it starts with a byte order mark");
  }
  refuse_long_tokens(text, where);
  Adapter adapter(where, max_depth, events);
  nlohmann::json::sax_parse(text.begin(), text.end(), &adapter);
}

}  // namespace rung
