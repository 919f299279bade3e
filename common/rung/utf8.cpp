// The byte ranges of RFC 3629, section 4.
#include "rung/utf8.h"

namespace rung {

int utf8_sequence_length(std::string_view text) {
  if (text.empty()) return 0;
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const int length = first >= 0xc2 && first < 0xe0   ? 2
                     : first >= 0xe0 && first < 0xf0 ? 3
                     : first >= 0xf0 && first < 0xf5 ? 4
                                                     : 0;
  if (length == 0 || text.size() < static_cast<size_t>(length)) return 0;
  for (int i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  if (first == 0xe0 && byte(1) < 0xa0) return 0;
  if (first == 0xed && byte(1) >= 0xa0) return 0;
  if (first == 0xf0 && byte(1) < 0x90) return 0;
  if (first == 0xf4 && byte(1) >= 0x90) return 0;
  return length;
}

size_t utf8_valid_prefix(std::string_view text) {
  size_t offset = 0;
  while (offset < text.size()) {
    const int length = utf8_sequence_length(text.substr(offset));
    if (length == 0) break;
    offset += length;
  }
  return offset;
}

}  // namespace rung
