// Seeded numbers with outliers; buffers between guard zones.
#include "testing/data.h"

#include <cmath>
#include <limits>

namespace rung::testing {

namespace {

// SplitMix64 (Steele, Lea, Flood 2014): passes over all 64-bit states, any seed is good.
struct Random {
  uint64_t state;
  uint64_t next() {
    uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
};

constexpr float kGuardValue = -1.25e30f;

}  // namespace

std::vector<float> random_floats(size_t count, uint64_t seed, float scale) {
  Random random{seed};
  std::vector<float> values(count);
  for (float& value : values) {
    // The sum of 12 uniforms less 6 has variance 1 and needs no library function that differs between
    // machines.
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += random.uniform();
    value = static_cast<float>(sum) * scale;
    if (random.next() % 64 == 0) value *= 20;
  }
  return values;
}

std::vector<int32_t> random_ints(size_t count, uint64_t seed, int32_t limit) {
  Random random{seed};
  std::vector<int32_t> values(count);
  for (int32_t& value : values) value = static_cast<int32_t>(random.next() % static_cast<uint64_t>(limit));
  return values;
}

GuardedFloats::GuardedFloats(size_t size) : storage_(size + 2 * kGuard, kGuardValue) {
  for (size_t i = 0; i < size; ++i) data()[i] = std::numeric_limits<float>::quiet_NaN();
}

bool GuardedFloats::intact() const {
  for (size_t i = 0; i < kGuard; ++i) {
    if (storage_[i] != kGuardValue || storage_[storage_.size() - 1 - i] != kGuardValue) return false;
  }
  return true;
}

}  // namespace rung::testing
