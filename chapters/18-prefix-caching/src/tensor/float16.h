// Conversions between float32 and the two 16-bit floating-point types (IEEE 754 binary16, and bfloat16: the
// upper half of a float32), rounding to nearest, ties to even. NaN stays NaN, overflow becomes infinity.
#pragma once

#include <cstdint>

namespace rung {

float f16_to_f32(uint16_t bits);
uint16_t f32_to_f16(float value);
float bf16_to_f32(uint16_t bits);
uint16_t f32_to_bf16(float value);

}  // namespace rung
