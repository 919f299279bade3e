// Unicode's normal form C: "e" followed by a combining acute accent becomes the one character "é". Some
// tokenizers put their text into it first. Source: Unicode Standard Annex #15.
#pragma once

#include <string>
#include <string_view>

namespace rung {

// Could text differ from its normal form C? False for certain only: looks at each character once. Plain
// ASCII, and text that uses characters only of their composed kind, gives false.
bool may_need_normalizing(std::string_view text);

// text in normal form C. Bytes that are no valid UTF-8 stay as they are, and nothing is composed across them.
std::string normalized(std::string_view text);

}  // namespace rung
