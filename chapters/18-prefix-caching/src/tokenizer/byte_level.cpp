// The two tables between bytes and letters.
#include "tokenizer/byte_level.h"

#include <array>
#include <cstdint>

#include "rung/utf8.h"

namespace rung {

namespace {

constexpr int kLetters = 0x144;  // all letters lie below this code point

struct Letters {
  std::array<uint16_t, 256> of_byte;        // code point of each byte's letter
  std::array<int16_t, kLetters> of_letter;  // byte of each code point; -1 for none

  Letters() {
    of_letter.fill(-1);
    uint16_t next = 0x100;
    for (int byte = 0; byte < 256; ++byte) {
      const bool printable = (byte >= '!' && byte <= '~') || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
      of_byte[byte] = printable ? static_cast<uint16_t>(byte) : next++;
      of_letter[of_byte[byte]] = static_cast<int16_t>(byte);
    }
  }
};

const Letters& table() {
  static const Letters letters;
  return letters;
}

}  // namespace

std::string bytes_to_letters(std::string_view bytes) {
  std::string letters;
  for (const char c : bytes) {
    const uint16_t code = table().of_byte[static_cast<unsigned char>(c)];
    if (code < 0x80) {
      letters += static_cast<char>(code);
    } else {
      letters += static_cast<char>(0xc0 | code >> 6);
      letters += static_cast<char>(0x80 | (code & 0x3f));
    }
  }
  return letters;
}

bool letters_to_bytes(std::string_view letters, std::string& bytes) {
  const size_t before = bytes.size();
  for (size_t i = 0; i < letters.size();) {
    const int length = utf8_sequence_length(letters.substr(i));
    const auto byte = [&](size_t k) { return static_cast<unsigned char>(letters[i + k]); };
    const int code = length == 1   ? byte(0)
                     : length == 2 ? (byte(0) & 0x1f) << 6 | (byte(1) & 0x3f)
                                   : kLetters;
    const int value = code < kLetters ? table().of_letter[code] : -1;
    if (value < 0) {
      bytes.resize(before);
      return false;
    }
    bytes += static_cast<char>(value);
    i += length;
  }
  return true;
}

}  // namespace rung
