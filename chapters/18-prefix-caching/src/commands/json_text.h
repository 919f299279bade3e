// Pieces of JSON (RFC 8259) for commands that write it as they go, without holding a document in memory.
#pragma once

#include <string>
#include <string_view>

namespace rung {

// text in double quotes, escaped; bytes that are not valid UTF-8 become U+FFFD.
std::string json_string(std::string_view text);

// The shortest digits that read back as the same number. Infinities and NaN, which JSON cannot hold, become
// null.
std::string json_number(double value);
std::string json_number(float value);

}  // namespace rung
