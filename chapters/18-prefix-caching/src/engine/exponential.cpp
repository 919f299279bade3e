// e^x = 2^k e^r: the power of two is exact, the rest a Taylor series.
#include "engine/exponential.h"

#include <cstdint>
#include <cstring>

namespace rung {

double portable_exp(double x) {
  if (!(x >= -708)) return 0;
  // x = k ln 2 + r with |r| <= ln 2 / 2. ln 2 in two parts, the first with zeros at its end, so that k * high
  // is exact.
  constexpr double kLog2E = 1.4426950408889634;
  constexpr double kLn2High = 6.93147180369123816490e-01, kLn2Low = 1.90821492927058770002e-10;
  const int64_t k = static_cast<int64_t>(x * kLog2E - 0.5);  // rounded, since the cast cuts towards zero
  const double r = (x - static_cast<double>(k) * kLn2High) - static_cast<double>(k) * kLn2Low;
  // 1 + r + r^2 / 2! + … + r^13 / 13!: the remainder is below 1e-17 for such r.
  constexpr double kInverseFactorial[] = {
      1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040,
      1.0 / 720,        1.0 / 120,       1.0 / 24,       1.0 / 6,       1.0 / 2,      1.0,         1.0};
  double sum = 0;
  for (const double coefficient : kInverseFactorial) sum = sum * r + coefficient;
  // 2^k as bits: -1022 <= k <= 0 is a normal number's exponent.
  const uint64_t bits = static_cast<uint64_t>(k + 1023) << 52;
  double power;
  std::memcpy(&power, &bits, sizeof(power));
  return sum * power;
}

}  // namespace rung
