// The comparisons and buffers that all other tests trust.
#include "testing/compare.h"

#include <cmath>
#include <limits>
#include <vector>

#include "testing/catch.h"
#include "testing/data.h"

using namespace rung::testing;
using Floats = std::vector<float>;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN(),
                kInfinity = std::numeric_limits<float>::infinity();

std::string differ(const Floats& got, const Floats& expected, float absolute, float relative = 0) {
  return compare(rung::Span<const float>(got), rung::Span<const float>(expected), absolute, relative);
}
std::string differ_bits(const Floats& got, const Floats& expected) {
  return compare_bits(rung::Span<const float>(got), rung::Span<const float>(expected));
}

}  // namespace

TEST_CASE("compare accepts what is within the tolerance") {
  CHECK(differ({}, {}, 0) == "");
  CHECK(differ({1, 2}, {1, 2}, 0) == "");
  CHECK(differ({1.5f}, {1}, 0.5f) == "");
  CHECK(differ({1.75f}, {1}, 0.5f) != "");
  CHECK(differ({-125}, {-100}, 0, 0.25f) == "");
  CHECK(differ({-126}, {-100}, 0, 0.25f) != "");
  CHECK(differ({0.0f}, {-0.0f}, 0) == "");
}

TEST_CASE("compare says where it fails, and how badly") {
  CHECK(differ({1, 2, 3, 9}, {1, 2, 4, 4}, 0) ==
        "first difference at index 2: got 3, expected 4; 2 of 4 differ, most at index 3: got 9, expected 4 "
        "(error 5)");
  CHECK(differ({1}, {1, 2}, 9) == "got 1 elements, expected 2");
}

TEST_CASE("NaN and infinity equal only themselves, however wide the tolerance") {
  CHECK(differ({kNan}, {kNan}, 0) == "");
  CHECK(differ({kNan}, {0}, kInfinity) != "");
  CHECK(differ({0}, {kNan}, kInfinity) != "");
  CHECK(differ({kInfinity, -kInfinity}, {kInfinity, -kInfinity}, 0) == "");
  CHECK(differ({kInfinity}, {-kInfinity}, 1e30f, 1) != "");
  CHECK(differ({3e38f}, {kInfinity}, 1e30f, 1) != "");
  CHECK(differ({0, kNan}, {1, 0}, 0).find("most at index 1") != std::string::npos);
}

TEST_CASE("compare_bits tells 0 from -0 and one NaN from another") {
  CHECK(differ_bits({1, kNan}, {1, kNan}) == "");
  CHECK(differ_bits({0.0f}, {-0.0f}) != "");
  CHECK(differ_bits({kNan}, {-kNan}) != "");
  CHECK(differ_bits({1}, {std::nextafter(1.0f, 2.0f)}).find("index 0") != std::string::npos);
}

TEST_CASE("integers are compared exactly") {
  const std::vector<int32_t> a = {1, 2, 2147483647}, b = {1, 2, 2147483646};
  CHECK(compare(rung::Span<const int32_t>(a), rung::Span<const int32_t>(a)) == "");
  CHECK(compare(rung::Span<const int32_t>(a), rung::Span<const int32_t>(b)) ==
        "first difference at index 2: got 2147483647, expected 2147483646; 1 of 3 differ, most at index 2: "
        "got 2147483647, "
        "expected 2147483646 (error 1)");
}

TEST_CASE("the relative error is the largest difference by the largest expected value") {
  const Floats got = {1, -4.5f}, expected = {1.25f, -4};
  CHECK(relative_error(got, expected) == Approx(0.125));
  CHECK(relative_error(expected, expected) == 0);
  CHECK(relative_error(Floats{0}, Floats{0}) == 0);
  CHECK(std::isinf(relative_error(Floats{1}, Floats{1, 2})));
  CHECK(std::isinf(relative_error(Floats{kNan, 1}, Floats{1, 1})));
  CHECK(std::isinf(relative_error(Floats{1}, Floats{0})));
}

TEST_CASE("a guarded buffer is NaN inside and sees writes on both sides") {
  for (size_t size : {0, 1, 100}) {
    GuardedFloats buffer(size);
    REQUIRE(buffer.size() == size);
    CHECK(buffer.intact());
    for (size_t i = 0; i < size; ++i) CHECK(std::isnan(buffer.data()[i]));
    for (size_t i = 0; i < size; ++i) buffer.data()[i] = static_cast<float>(i);
    CHECK(buffer.intact());
    for (const long place : {-64L, -1L, static_cast<long>(size), static_cast<long>(size) + 63}) {
      GuardedFloats other(size);
      other.data()[place] = 0;
      CAPTURE(size, place);
      CHECK_FALSE(other.intact());
    }
  }
}

TEST_CASE("random data is the same for a seed, differs between seeds, and has outliers") {
  CHECK(random_floats(100, 7) == random_floats(100, 7));
  CHECK(random_floats(100, 7) != random_floats(100, 8));
  const Floats values = random_floats(20000, 1, 0.5f);
  double sum = 0, squares = 0;
  int tame = 0, large = 0;
  for (float value : values) {
    if (std::abs(value) > 0.5f * 6) {
      ++large;
      continue;
    }
    ++tame;
    sum += value;
    squares += static_cast<double>(value) * value;
  }
  CHECK(std::abs(sum / tame) < 0.02);
  CHECK(std::sqrt(squares / tame) == Approx(0.5).epsilon(0.05));
  CHECK(large > 20000 / 64 / 2);  // one in 64 is 20 times as large, and most of those are seen
  CHECK(large < 20000 / 64 * 2);
}

TEST_CASE("random integers cover their range and stay in it") {
  std::vector<int> counts(5, 0);
  for (int32_t value : random_ints(1000, 3, 5)) {
    REQUIRE(value >= 0);
    REQUIRE(value < 5);
    ++counts[static_cast<size_t>(value)];
  }
  for (int count : counts) CHECK(count > 100);
}
