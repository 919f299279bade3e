// UTF-8 to code points and back.
#pragma once

#include <string>
#include <string_view>

#include "rung/utf8.h"

namespace rung {

// The code point of the valid UTF-8 sequence that `character` starts with.
inline char32_t decode_utf8(std::string_view character) {
  const int length = utf8_sequence_length(character);
  const auto byte = [&](int i) { return static_cast<char32_t>(static_cast<unsigned char>(character[i])); };
  if (length == 1) return byte(0);
  char32_t code = byte(0) & (0xff >> (length + 1));
  for (int i = 1; i < length; ++i) code = code << 6 | (byte(i) & 0x3f);
  return code;
}

// Appends a code point (below 0x110000, no surrogate).
inline void append_utf8(std::string& text, char32_t code) {
  const auto add = [&](char32_t byte) { text += static_cast<char>(byte); };
  if (code < 0x80) {
    add(code);
  } else if (code < 0x800) {
    add(0xc0 | code >> 6);
    add(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    add(0xe0 | code >> 12);
    add(0x80 | (code >> 6 & 0x3f));
    add(0x80 | (code & 0x3f));
  } else {
    add(0xf0 | code >> 18);
    add(0x80 | (code >> 12 & 0x3f));
    add(0x80 | (code >> 6 & 0x3f));
    add(0x80 | (code & 0x3f));
  }
}

}  // namespace rung
