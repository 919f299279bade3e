// White space and word characters at the ends of a text.
#include "tokenizer/characters.h"

#include "rung/utf8.h"
#include "tokenizer/regex.h"
#include "tokenizer/utf8_codes.h"

namespace rung {

namespace {

std::string_view first_character(std::string_view text) {
  return text.substr(0, utf8_sequence_length(text));
}

bool is_word(std::string_view character) {
  static const Regex word(R"([\p{L}\p{M}\p{Nl}\p{Nd}\p{Pc}\x{200c}\x{200d}])");
  return !character.empty() && word.found_in(character);
}

}  // namespace

std::string_view last_character(std::string_view text) {
  for (size_t length = 1; length <= 4 && length <= text.size(); ++length) {
    const std::string_view tail = text.substr(text.size() - length);
    if (utf8_sequence_length(tail) == static_cast<int>(length)) return tail;
  }
  return {};
}

bool is_white_space(char32_t code) {
  return (code >= 0x09 && code <= 0x0d) || code == 0x20 || code == 0x85 || code == 0xa0 || code == 0x1680 ||
         (code >= 0x2000 && code <= 0x200a) || code == 0x2028 || code == 0x2029 || code == 0x202f ||
         code == 0x205f || code == 0x3000;
}

size_t white_space_at_end(std::string_view text) {
  const size_t whole = text.size();
  for (;;) {
    const std::string_view character = last_character(text);
    if (character.empty() || !is_white_space(decode_utf8(character))) return whole - text.size();
    text.remove_suffix(character.size());
  }
}

size_t white_space_at_start(std::string_view text) {
  const size_t whole = text.size();
  for (;;) {
    const std::string_view character = first_character(text);
    if (character.empty() || !is_white_space(decode_utf8(character))) return whole - text.size();
    text.remove_prefix(character.size());
  }
}

bool ends_in_word(std::string_view text) {
  return is_word(last_character(text));
}
bool starts_in_word(std::string_view text) {
  return is_word(first_character(text));
}

}  // namespace rung
