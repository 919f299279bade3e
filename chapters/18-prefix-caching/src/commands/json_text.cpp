// Escaping text and writing numbers as JSON.
#include "commands/json_text.h"

#include <cmath>

#include "commands/number_text.h"
#include "rung/utf8.h"

namespace rung {

std::string json_string(std::string_view text) {
  static const char digits[] = "0123456789abcdef";
  std::string json = "\"";
  while (!text.empty()) {
    const int length = utf8_sequence_length(text);
    const unsigned char byte = static_cast<unsigned char>(text[0]);
    if (length == 0) {
      json += "\xef\xbf\xbd";
    } else if (byte == '"' || byte == '\\') {
      json += '\\';
      json += text[0];
    } else if (byte == '\n') {
      json += "\\n";
    } else if (byte == '\t') {
      json += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      json += "\\u00";
      json += digits[byte >> 4];
      json += digits[byte & 15];
    } else {
      json += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return json + "\"";
}

std::string json_number(double value) {
  return std::isfinite(value) ? shortest(value) : "null";
}
std::string json_number(float value) {
  return std::isfinite(value) ? shortest(value) : "null";
}

}  // namespace rung
