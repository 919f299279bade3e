// Escaping of what a file or a user wrote, for errors.
#include "rung/error.h"

#include "rung/utf8.h"

namespace rung {

void not_done(const char* task) {
  throw NotDone(std::string("exercise ") + task + " is not done yet");
}

std::string escaped(std::string_view text) {
  static const char digits[] = "0123456789abcdef";
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const unsigned char byte = static_cast<unsigned char>(text[i]);
    const int length = utf8_sequence_length(text.substr(i));
    const bool control = byte < 0x20 || byte == 0x7f ||
                         (length == 2 && byte == 0xc2 && static_cast<unsigned char>(text[i + 1]) < 0xa0);
    if (length > 0 && !control) {
      out += text.substr(i, length);
      i += length;
      continue;
    }
    if (byte == '\n') {
      out += "\\n";
    } else if (byte == '\r') {
      out += "\\r";
    } else if (byte == '\t') {
      out += "\\t";
    } else {
      out += "\\x";
      out += digits[byte >> 4];
      out += digits[byte & 15];
    }
    ++i;
  }
  return out;
}

std::string quoted(std::string_view text, size_t limit) {
  if (text.size() <= limit) return "\"" + escaped(text) + "\"";
  // Back to where a character begins: at most three bytes, or else this is no UTF-8 and any place will do.
  size_t cut = limit;
  while (cut > 0 && limit - cut < 3 && (static_cast<unsigned char>(text[cut]) & 0xc0) == 0x80) --cut;
  if ((static_cast<unsigned char>(text[cut]) & 0xc0) == 0x80) cut = limit;
  return "\"" + escaped(text.substr(0, cut)) + "…\"";
}

}  // namespace rung
