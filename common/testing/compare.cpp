// Finds the first difference and the largest error.
#include "testing/compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <sstream>

namespace rung::testing {

namespace {

template <class T, class Same>
std::string first_difference(Span<const T> got, Span<const T> expected, Same same) {
  std::ostringstream text;
  text.precision(9);
  if (got.size() != expected.size()) {
    text << "got " << got.size() << " elements, expected " << expected.size();
    return text.str();
  }
  size_t first = got.size(), bad = 0, worst = 0;
  double largest = -1;
  for (size_t i = 0; i < got.size(); ++i) {
    if (same(got[i], expected[i])) continue;
    if (bad++ == 0) first = i;
    double error = std::abs(static_cast<double>(got[i]) - static_cast<double>(expected[i]));
    if (std::isnan(error)) error = INFINITY;
    if (error > largest) {
      largest = error;
      worst = i;
    }
  }
  if (bad == 0) return "";
  text << "first difference at index " << first << ": got " << got[first] << ", expected " << expected[first]
       << "; " << bad << " of " << got.size() << " differ, most at index " << worst << ": got " << got[worst]
       << ", expected " << expected[worst] << " (error " << largest << ")";
  return text.str();
}

}  // namespace

std::string compare(Span<const float> got, Span<const float> expected, float absolute, float relative) {
  return first_difference(got, expected, [&](float a, float b) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
    if (std::isinf(a) || std::isinf(b)) return a == b;
    return std::abs(a - b) <= absolute + relative * std::abs(b);
  });
}

std::string compare_bits(Span<const float> got, Span<const float> expected) {
  return first_difference(got, expected, [](float a, float b) { return std::memcmp(&a, &b, sizeof a) == 0; });
}

std::string compare(Span<const int32_t> got, Span<const int32_t> expected) {
  return first_difference(got, expected, [](int32_t a, int32_t b) { return a == b; });
}

double relative_error(Span<const float> got, Span<const float> expected) {
  if (got.size() != expected.size()) return INFINITY;
  double error = 0, largest = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    const double difference = std::abs(static_cast<double>(got[i]) - expected[i]);
    if (!(difference <= error)) error = std::isnan(difference) ? INFINITY : difference;
    largest = std::max(largest, std::abs(static_cast<double>(expected[i])));
  }
  return error == 0 ? 0 : error / largest;
}

}  // namespace rung::testing
