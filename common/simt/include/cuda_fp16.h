// CUDA's <cuda_fp16.h>: half precision, rounded as the GPU does.
#pragma once

#include "simt/float16.h"

struct __half_raw {
  unsigned short x;
};

struct alignas(2) __half {
  unsigned short simt_bits;

  __half() = default;
  __half(__half_raw raw) : simt_bits(raw.x) {}
  __half(float value) : simt_bits(simt::float_to_half_bits(value)) {}
  __half(double value) : simt_bits(simt::float_to_half_bits(simt::narrow_to_odd(value))) {}
  __half(int value) : __half(static_cast<double>(value)) {}
  __half(unsigned value) : __half(static_cast<double>(value)) {}
  __half(short value) : __half(static_cast<double>(value)) {}
  __half(unsigned short value) : __half(static_cast<double>(value)) {}
  __half(long value) : __half(static_cast<double>(value)) {}
  __half(unsigned long value) : __half(static_cast<double>(value)) {}
  __half(long long value) : __half(static_cast<double>(value)) {}
  __half(unsigned long long value) : __half(static_cast<double>(value)) {}
  operator float() const { return simt::half_bits_to_float(simt_bits); }
  operator __half_raw() const { return __half_raw{simt_bits}; }
  __half& operator=(float value) { return *this = __half(value); }
  __half& operator=(double value) { return *this = __half(value); }
};
using half = __half;

struct alignas(4) __half2 {
  __half x, y;

  __half2() = default;
  __half2(__half x_, __half y_) : x(x_), y(y_) {}
};
using half2 = __half2;

namespace simt {
inline float half_to_float(__half h) {
  return half_bits_to_float(h.simt_bits);
}
inline __half float_to_half(float f) {
  return __half(f);
}
}  // namespace simt

SIMT_FLOAT16_OPERATIONS(__half, __half2, simt::float_to_half, simt::half_to_float)

inline __half __float2half(float f) {
  return __half(f);
}
inline __half __float2half_rn(float f) {
  return __half(f);
}
inline __half __float2half_rz(float f) {
  const __half nearest(f);
  const float back = simt::half_to_float(nearest);
  if (!(::fabsf(back) > ::fabsf(f))) return nearest;
  return __half(__half_raw{static_cast<unsigned short>(nearest.simt_bits - 1)});
}
inline __half __double2half(double d) {
  return __half(d);
}
inline float __half2float(__half h) {
  return simt::half_to_float(h);
}
inline __half2 __floats2half2_rn(float x, float y) {
  return __half2(__half(x), __half(y));
}
inline __half2 __float22half2_rn(float2 v) {
  return __half2(__half(v.x), __half(v.y));
}
inline __half2 __float2half2_rn(float v) {
  return __half2(__half(v), __half(v));
}
inline float2 __half22float2(__half2 v) {
  return make_float2(__half2float(v.x), __half2float(v.y));
}
inline float __low2float(__half2 v) {
  return __half2float(v.x);
}
inline float __high2float(__half2 v) {
  return __half2float(v.y);
}
inline __half __low2half(__half2 v) {
  return v.x;
}
inline __half __high2half(__half2 v) {
  return v.y;
}
inline __half2 __half2half2(__half v) {
  return __half2(v, v);
}
inline __half2 __halves2half2(__half x, __half y) {
  return __half2(x, y);
}
inline __half2 make_half2(__half x, __half y) {
  return __half2(x, y);
}
inline __half2 __low2half2(__half2 v) {
  return __half2(v.x, v.x);
}
inline __half2 __high2half2(__half2 v) {
  return __half2(v.y, v.y);
}
inline __half2 __lowhigh2highlow(__half2 v) {
  return __half2(v.y, v.x);
}
inline unsigned short __half_as_ushort(__half h) {
  return h.simt_bits;
}
inline short __half_as_short(__half h) {
  return static_cast<short>(h.simt_bits);
}
inline __half __ushort_as_half(unsigned short bits) {
  return __half(__half_raw{bits});
}
inline __half __short_as_half(short bits) {
  return __half(__half_raw{static_cast<unsigned short>(bits)});
}
inline int __half2int_rn(__half h) {
  return __float2int_rn(__half2float(h));
}
inline int __half2int_rz(__half h) {
  return __float2int_rz(__half2float(h));
}
inline __half __int2half_rn(int i) {
  return __half(i);
}
