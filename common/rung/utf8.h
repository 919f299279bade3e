// What every reader of text needs to know about UTF-8 (RFC 3629): where a sequence ends and whether it is
// valid.
#pragma once

#include <string_view>

namespace rung {

// Length in bytes (1 to 4) of the valid UTF-8 sequence at the start of text; 0 if there is none: empty, an
// overlong form, a surrogate, above U+10FFFF, a stray continuation byte, or cut off.
int utf8_sequence_length(std::string_view text);

// Offset of the first byte that is not part of a valid sequence; text.size() if all of it is valid.
size_t utf8_valid_prefix(std::string_view text);

}  // namespace rung
