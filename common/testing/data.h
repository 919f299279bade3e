// Data for tests: seeded, the same on every machine, with outliers, so that a softmax or a norm that only
// works on tame numbers is found out.
#pragma once

#include <cstddef>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rung::testing {

// count values, normal with the given scale; about one in 64 is 20 times as large.
std::vector<float> random_floats(size_t count, uint64_t seed, float scale = 1.0f);

// count integers in [0, limit).
std::vector<int32_t> random_ints(size_t count, uint64_t seed, int32_t limit);

// A float buffer of size elements, filled with NaN, between guard zones: an output that a kernel forgot shows
// as NaN, a write outside is seen by intact().
class GuardedFloats {
 public:
  explicit GuardedFloats(size_t size);
  float* data() { return storage_.data() + kGuard; }
  const float* data() const { return storage_.data() + kGuard; }
  size_t size() const { return storage_.size() - 2 * kGuard; }
  bool intact() const;

 private:
  static constexpr size_t kGuard = 64;
  std::vector<float> storage_;
};

}  // namespace rung::testing
