// SHA-256 (FIPS 180-4): tells whether two texts are the same without keeping one of them.
#pragma once

#include <string>
#include <string_view>

namespace rung {

// 64 hexadecimal digits, as `sha256sum` prints them.
std::string sha256_hex(std::string_view bytes);

}  // namespace rung
