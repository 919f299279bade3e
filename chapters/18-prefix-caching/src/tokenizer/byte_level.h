// The spelling of bytes in the vocabulary files of byte-level BPE: each of the 256 byte values as one
// printable character. Bytes that are printable in Latin-1 stand for themselves, the other 68 for U+0100 and
// up in order, so that a space is "Ġ" (U+0120) and a line break "Ċ" (U+010A). Source: bytes_to_unicode in
// OpenAI's GPT-2 encoder.
#pragma once

#include <string>
#include <string_view>

namespace rung {

// Any bytes as letters: one for each byte.
std::string bytes_to_letters(std::string_view bytes);

// The bytes that letters stand for, appended to `bytes`. False, with `bytes` left as it was, if the text
// holds a character that stands for no byte.
bool letters_to_bytes(std::string_view letters, std::string& bytes);

}  // namespace rung
