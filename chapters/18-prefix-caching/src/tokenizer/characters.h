// What the tokenizer needs to know about single characters at the ends of a text.
#pragma once

#include <string_view>

namespace rung {

// Has the property White_Space (Unicode).
bool is_white_space(char32_t code);

// The valid character that text ends with; empty if there is none.
std::string_view last_character(std::string_view text);

// The bytes of white space at the end, and at the start, of text.
size_t white_space_at_end(std::string_view text);
size_t white_space_at_start(std::string_view text);

// Is the last, or the first, character of text a letter, mark, decimal digit or connecting punctuation (what
// \w means in Unicode)? False for empty text.
bool ends_in_word(std::string_view text);
bool starts_in_word(std::string_view text);

}  // namespace rung
