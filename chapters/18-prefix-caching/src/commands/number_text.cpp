// Shortest decimal digits, with std::to_chars.
#include "commands/number_text.h"

#include <charconv>
#include <cmath>

namespace rung {

namespace {

template <class Number>
std::string text_of(Number value) {
  const Number size = std::abs(value);
  const bool plain = size == 0 || (size >= Number(1e-4) && size < Number(1e9));
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, value,
                                 plain ? std::chars_format::fixed : std::chars_format::scientific);
  return std::string(text, end.ptr);
}

}  // namespace

std::string shortest(float value) {
  return text_of(value);
}
std::string shortest(double value) {
  return text_of(value);
}

}  // namespace rung
