// Conversions between float32 and the 16-bit types, against numpy and by hand.
#include "tensor/float16.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "testing/catch.h"
#include "testing/compare.h"
#include "testing/fixture.h"

namespace rung {

namespace {

template <class T>
std::vector<T> read_numbers(const std::string& name) {
  const std::string bytes = testing::read_file(testing::fixture_path(name));
  std::vector<T> numbers(bytes.size() / sizeof(T));
  std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(T));
  return numbers;
}

float from_bits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

bool is_nan_f16(uint16_t bits) {
  return (bits & 0x7fff) > 0x7c00;
}
bool is_nan_bf16(uint16_t bits) {
  return (bits & 0x7fff) > 0x7f80;
}

}  // namespace

TEST_CASE("all 65,536 f16 patterns become the float32 that numpy makes of them") {
  const std::vector<float> expected = testing::read_floats(testing::fixture_path("half/f16_to_f32.f32"));
  REQUIRE(expected.size() == 65536);
  std::vector<float> got(65536);
  for (uint32_t bits = 0; bits < 65536; ++bits) got[bits] = f16_to_f32(static_cast<uint16_t>(bits));
  CHECK(testing::compare(got, expected, 0) == "");
  for (uint32_t bits : {0x0000u, 0x8000u}) CHECK(std::signbit(got[bits]) == (bits != 0));
}

TEST_CASE("all 65,536 bf16 patterns are the upper halves of their float32") {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const float value = bf16_to_f32(static_cast<uint16_t>(bits));
    uint32_t whole;
    std::memcpy(&whole, &value, sizeof whole);
    REQUIRE(whole == bits << 16);
  }
}

TEST_CASE("every 16-bit pattern survives the way to float32 and back") {
  for (uint32_t pattern = 0; pattern < 65536; ++pattern) {
    const auto bits = static_cast<uint16_t>(pattern);
    INFO("pattern " << pattern);
    const uint16_t half = f32_to_f16(f16_to_f32(bits)), brain = f32_to_bf16(bf16_to_f32(bits));
    REQUIRE((is_nan_f16(bits) ? is_nan_f16(half) : half == bits));
    REQUIRE((is_nan_bf16(bits) ? is_nan_bf16(brain) : brain == bits));
  }
}

TEST_CASE("rounding to 16 bits agrees with numpy and torch around ties, subnormals and the largest values") {
  const auto inputs = read_numbers<uint32_t>("half/rounding.u32");
  const auto halves = read_numbers<uint16_t>("half/rounding_f16.u16");
  const auto brains = read_numbers<uint16_t>("half/rounding_bf16.u16");
  REQUIRE(inputs.size() == halves.size());
  REQUIRE(inputs.size() == brains.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const float value = from_bits(inputs[i]);
    INFO("float32 pattern " << inputs[i] << ", value " << value);
    const uint16_t half = f32_to_f16(value), brain = f32_to_bf16(value);
    REQUIRE((is_nan_f16(halves[i]) ? is_nan_f16(half) : half == halves[i]));
    REQUIRE((is_nan_bf16(brains[i]) ? is_nan_bf16(brain) : brain == brains[i]));
  }
}

TEST_CASE("ties go to the even neighbour, checked by hand") {
  // f16 keeps 10 bits of fraction: between 1 and 2 its steps are 2^-10.
  CHECK(f32_to_f16(1 + 0x1p-11f) == 0x3c00);             // halfway between 0x3c00 and 0x3c01
  CHECK(f32_to_f16(1 + 3 * 0x1p-11f) == 0x3c02);         // halfway between 0x3c01 and 0x3c02
  CHECK(f32_to_f16(1 + 0x1p-11f + 0x1p-23f) == 0x3c01);  // one bit above the tie
  CHECK(f32_to_f16(65504) == 0x7bff);                    // the largest
  CHECK(f32_to_f16(std::nextafter(65520.0f, 0.0f)) == 0x7bff);
  CHECK(f32_to_f16(65520) == 0x7c00);     // halfway to 65536, which f16 does not have
  CHECK(f32_to_f16(0x1p-24f) == 0x0001);  // the smallest
  CHECK(f32_to_f16(0x1p-25f) == 0x0000);  // halfway to zero
  CHECK(f32_to_f16(std::nextafter(0x1p-25f, 1.0f)) == 0x0001);
  CHECK(f32_to_f16(3 * 0x1p-25f) == 0x0002);         // halfway between 1 and 2 of the smallest
  CHECK(f32_to_f16(0x1p-14f - 0x1p-25f) == 0x0400);  // rounds up from subnormal to the smallest normal
  CHECK(f32_to_f16(-0.0f) == 0x8000);
  CHECK(f32_to_f16(-std::numeric_limits<float>::infinity()) == 0xfc00);
  // bf16 keeps 7 bits of fraction: between 1 and 2 its steps are 2^-7.
  CHECK(f32_to_bf16(1 + 0x1p-8f) == 0x3f80);
  CHECK(f32_to_bf16(1 + 3 * 0x1p-8f) == 0x3f82);
  CHECK(f32_to_bf16(1 + 0x1p-8f + 0x1p-23f) == 0x3f81);
  CHECK(f32_to_bf16(std::numeric_limits<float>::max()) == 0x7f80);
  CHECK(f32_to_bf16(-std::numeric_limits<float>::infinity()) == 0xff80);
  CHECK(f32_to_bf16(65504) == 0x4780);  // 65536: far in range, but coarse
}

TEST_CASE("a NaN whose payload would be cut off stays a NaN") {
  for (uint32_t sign : {0u, 0x80000000u}) {
    const float nan = from_bits(sign | 0x7f800001);
    CHECK(is_nan_f16(f32_to_f16(nan)));
    CHECK(is_nan_bf16(f32_to_bf16(nan)));
    CHECK(is_nan_bf16(f32_to_bf16(from_bits(sign | 0x7fffffff))));
  }
}

}  // namespace rung
