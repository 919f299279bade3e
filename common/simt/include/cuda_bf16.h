// CUDA's <cuda_bf16.h>: bfloat16, rounded as the GPU does.
#pragma once

#include "simt/float16.h"

struct __nv_bfloat16_raw {
  unsigned short x;
};

struct alignas(2) __nv_bfloat16 {
  unsigned short simt_bits;

  __nv_bfloat16() = default;
  __nv_bfloat16(__nv_bfloat16_raw raw) : simt_bits(raw.x) {}
  __nv_bfloat16(float value) : simt_bits(simt::float_to_bfloat16_bits(value)) {}
  __nv_bfloat16(double value) : simt_bits(simt::float_to_bfloat16_bits(simt::narrow_to_odd(value))) {}
  __nv_bfloat16(int value) : __nv_bfloat16(static_cast<double>(value)) {}
  __nv_bfloat16(unsigned value) : __nv_bfloat16(static_cast<double>(value)) {}
  __nv_bfloat16(short value) : __nv_bfloat16(static_cast<double>(value)) {}
  __nv_bfloat16(unsigned short value) : __nv_bfloat16(static_cast<double>(value)) {}
  __nv_bfloat16(long value) : __nv_bfloat16(static_cast<double>(value)) {}
  __nv_bfloat16(unsigned long value) : __nv_bfloat16(static_cast<double>(value)) {}
  __nv_bfloat16(long long value) : __nv_bfloat16(static_cast<double>(value)) {}
  __nv_bfloat16(unsigned long long value) : __nv_bfloat16(static_cast<double>(value)) {}
  operator float() const { return simt::bfloat16_bits_to_float(simt_bits); }
  operator __nv_bfloat16_raw() const { return __nv_bfloat16_raw{simt_bits}; }
  __nv_bfloat16& operator=(float value) { return *this = __nv_bfloat16(value); }
  __nv_bfloat16& operator=(double value) { return *this = __nv_bfloat16(value); }
};
using nv_bfloat16 = __nv_bfloat16;

struct alignas(4) __nv_bfloat162 {
  __nv_bfloat16 x, y;

  __nv_bfloat162() = default;
  __nv_bfloat162(__nv_bfloat16 x_, __nv_bfloat16 y_) : x(x_), y(y_) {}
};
using nv_bfloat162 = __nv_bfloat162;

namespace simt {
inline float bfloat16_to_float(__nv_bfloat16 h) {
  return bfloat16_bits_to_float(h.simt_bits);
}
inline __nv_bfloat16 float_to_bfloat16(float f) {
  return __nv_bfloat16(f);
}
}  // namespace simt

SIMT_FLOAT16_OPERATIONS(__nv_bfloat16, __nv_bfloat162, simt::float_to_bfloat16, simt::bfloat16_to_float)

inline __nv_bfloat16 __float2bfloat16(float f) {
  return __nv_bfloat16(f);
}
inline __nv_bfloat16 __float2bfloat16_rn(float f) {
  return __nv_bfloat16(f);
}
inline __nv_bfloat16 __float2bfloat16_rz(float f) {
  if (f != f) return __nv_bfloat16(f);
  return __nv_bfloat16(__nv_bfloat16_raw{static_cast<unsigned short>(simt::bit_cast<unsigned>(f) >> 16)});
}
inline __nv_bfloat16 __double2bfloat16(double d) {
  return __nv_bfloat16(d);
}
inline float __bfloat162float(__nv_bfloat16 b) {
  return simt::bfloat16_to_float(b);
}
inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y) {
  return __nv_bfloat162(__nv_bfloat16(x), __nv_bfloat16(y));
}
inline __nv_bfloat162 __float22bfloat162_rn(float2 v) {
  return __floats2bfloat162_rn(v.x, v.y);
}
inline __nv_bfloat162 __float2bfloat162_rn(float v) {
  return __floats2bfloat162_rn(v, v);
}
inline float2 __bfloat1622float2(__nv_bfloat162 v) {
  return make_float2(__bfloat162float(v.x), __bfloat162float(v.y));
}
inline float __low2float(__nv_bfloat162 v) {
  return __bfloat162float(v.x);
}
inline float __high2float(__nv_bfloat162 v) {
  return __bfloat162float(v.y);
}
inline __nv_bfloat16 __low2bfloat16(__nv_bfloat162 v) {
  return v.x;
}
inline __nv_bfloat16 __high2bfloat16(__nv_bfloat162 v) {
  return v.y;
}
inline __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 v) {
  return __nv_bfloat162(v, v);
}
inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) {
  return __nv_bfloat162(x, y);
}
inline __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) {
  return __nv_bfloat162(x, y);
}
inline __nv_bfloat162 __low2bfloat162(__nv_bfloat162 v) {
  return __nv_bfloat162(v.x, v.x);
}
inline __nv_bfloat162 __high2bfloat162(__nv_bfloat162 v) {
  return __nv_bfloat162(v.y, v.y);
}
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 b) {
  return b.simt_bits;
}
inline short __bfloat16_as_short(__nv_bfloat16 b) {
  return static_cast<short>(b.simt_bits);
}
inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) {
  return __nv_bfloat16(__nv_bfloat16_raw{bits});
}
inline __nv_bfloat16 __short_as_bfloat16(short bits) {
  return __ushort_as_bfloat16(static_cast<unsigned short>(bits));
}
inline int __bfloat162int_rn(__nv_bfloat16 b) {
  return __float2int_rn(__bfloat162float(b));
}
inline __nv_bfloat16 __int2bfloat16_rn(int i) {
  return __nv_bfloat16(i);
}
