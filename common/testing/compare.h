// Comparisons of arrays that say where they fail: the first bad index, expected, got, and the largest error.
#pragma once

#include <cstdint>
#include <string>

#include "rung/span.h"

namespace rung::testing {

// Empty if all |got[i] - expected[i]| <= absolute + relative * |expected[i]| and neither side alone is NaN;
// else one line that says what differs. CHECK(compare(…) == "") shows that line.
std::string compare(Span<const float> got, Span<const float> expected, float absolute, float relative = 0);

// Empty if the bits are the same (so NaN equals the same NaN and 0 differs from -0).
std::string compare_bits(Span<const float> got, Span<const float> expected);

// Empty if equal.
std::string compare(Span<const int32_t> got, Span<const int32_t> expected);

// The largest |got[i] - expected[i]| divided by the largest |expected[i]|.
double relative_error(Span<const float> got, Span<const float> expected);

}  // namespace rung::testing
