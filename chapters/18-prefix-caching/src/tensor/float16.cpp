// The 16-bit conversions, bit by bit.
#include "tensor/float16.h"

#include <cstring>

#include "rung/error.h"

namespace rung {

namespace {

uint32_t bits_of(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

float from_bits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

}  // namespace

float f16_to_f32(uint16_t bits) {
  const uint32_t sign = (bits & 0x8000u) << 16;
  const uint32_t exponent = (bits >> 10) & 0x1f;
  const uint32_t fraction = bits & 0x3ff;
  if (exponent == 0) {  // zero or subnormal: fraction steps of 2^-24, which float32 holds exactly
    const float size = static_cast<float>(fraction) * 0x1p-24f;
    return from_bits(sign | bits_of(size));
  }
  if (exponent == 0x1f) return from_bits(sign | 0x7f800000u | (fraction << 13));  // infinity or NaN
  return from_bits(sign | ((exponent + (127 - 15)) << 23) | (fraction << 13));
}

uint16_t f32_to_f16(float value) {
  const uint32_t bits = bits_of(value);
  const uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000);
  const uint32_t size = bits & 0x7fffffff;
  if (size > 0x7f800000) return sign | 0x7e00 | static_cast<uint16_t>((size >> 13) & 0x1ff);  // a quiet NaN
  if (size >= 0x477ff000) return sign | 0x7c00;  // 65520 and above rounds to infinity
  if (size < 0x33000000) return sign;            // below 2^-25, half the smallest subnormal, rounds to zero

  // The 24-bit significand and how many of its low bits do not fit.
  const uint32_t exponent = size >> 23;
  const bool subnormal = exponent < 127 - 14;
  const uint32_t significand = (size & 0x7fffff) | 0x800000;
  const uint32_t drop = subnormal ? 13 + (127 - 14 - exponent) : 13;
  uint32_t result = significand >> drop;
  // A normal number's leading 1 is not stored; adding it to the exponent less one gives the exponent, and a
  // carry out of the fraction raises the exponent as it should.
  if (!subnormal) result += (exponent - (127 - 15) - 1) << 10;
  const uint32_t rest = significand & ((1u << drop) - 1);
  const uint32_t half = 1u << (drop - 1);
  if (rest > half || (rest == half && (result & 1) != 0)) ++result;
  return sign | static_cast<uint16_t>(result);
}

float bf16_to_f32(uint16_t bits) {
  return from_bits(static_cast<uint32_t>(bits) << 16);
}

uint16_t f32_to_bf16(float value) {
  // BEGIN SOLUTION 02.1
  const uint32_t bits = bits_of(value);
  if ((bits & 0x7fffffff) > 0x7f800000) return static_cast<uint16_t>((bits >> 16) | 0x40);  // keep it a NaN
  const uint32_t last_kept = (bits >> 16) & 1;
  return static_cast<uint16_t>((bits + 0x7fff + last_kept) >> 16);
  // STUB: (void)value;
  // STUB: not_done("02.1");
  // END SOLUTION
}

}  // namespace rung
