// Conversions and exact arithmetic behind half and bfloat16: every operation rounds once, to nearest even, as
// the GPU's does. SIMT_FLOAT16_OPERATIONS gives one 16-bit type its operators and functions; cuda_fp16.h and
// cuda_bf16.h use it.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "simt/intrinsics.h"
#include "simt/qualifiers.h"
#include "simt/vector_types.h"
#include "simt/warp.h"

namespace simt {

inline float half_bits_to_float(std::uint16_t h) {
  const std::uint32_t sign = static_cast<std::uint32_t>(h & 0x8000u) << 16;
  const std::uint32_t rest = h & 0x7fffu;
  std::uint32_t bits;
  if (rest >= 0x7c00u) {
    bits = 0x7f800000u | (rest & 0x3ffu) << 13;  // infinity, NaN
  } else if (rest >= 0x400u) {
    bits = (rest << 13) + 0x38000000u;
  } else {
    bits = bit_cast<std::uint32_t>(static_cast<float>(rest) * 0x1p-24f);  // zero, subnormal
  }
  return bit_cast<float>(bits | sign);
}

inline std::uint16_t float_to_half_bits(float f) {
  const std::uint32_t bits = bit_cast<std::uint32_t>(f);
  const std::uint16_t sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000u);
  const std::uint32_t rest = bits & 0x7fffffffu;
  if (rest > 0x7f800000u) return 0x7fff;          // NaN: CUDA's canonical one
  if (rest >= 0x477ff000u) return sign | 0x7c00;  // rounds to infinity
  if (rest < 0x38800000u) {                       // subnormal half or zero
    const float magnitude =
        bit_cast<float>(rest) + 0.5f;  // 0.5 has an ulp of 2^-24, the spacing of subnormal halves
    return static_cast<std::uint16_t>(sign | (bit_cast<std::uint32_t>(magnitude) - 0x3f000000u));
  }
  const std::uint32_t rounded = rest + 0xfffu + (rest >> 13 & 1);
  return static_cast<std::uint16_t>(sign | (rounded - 0x38000000u) >> 13);
}

inline float bfloat16_bits_to_float(std::uint16_t b) {
  return bit_cast<float>(static_cast<std::uint32_t>(b) << 16);
}

inline std::uint16_t float_to_bfloat16_bits(float f) {
  const std::uint32_t bits = bit_cast<std::uint32_t>(f);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
  return static_cast<std::uint16_t>((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}

/// Double to float so that rounding the float to 16 bits gives the double's nearest: round to odd.
inline float narrow_to_odd(double d) {
  float f = static_cast<float>(d);
  if (!(std::fabs(d) <= 3.4e38) || static_cast<double>(f) == d) return f;
  std::uint32_t bits = bit_cast<std::uint32_t>(f);
  if (std::fabs(static_cast<double>(f)) > std::fabs(d)) --bits;  // towards zero
  return bit_cast<float>(bits | 1u);
}

/// a * b + c for 16-bit operands, to be rounded to 16 bits: the product is exact in double, the sum is
/// rounded to odd.
inline float fma_to_odd(float a, float b, float c) {
  const double product = static_cast<double>(a) * static_cast<double>(b);
  const double addend = static_cast<double>(c);
  double sum = product + addend;
  if (std::isfinite(sum)) {
    const double back = sum - product;
    const double error = (product - (sum - back)) + (addend - back);
    if (error != 0) {
      std::uint64_t bits = bit_cast<std::uint64_t>(sum);
      if ((bits & 1) == 0) {
        const bool away = (error > 0) == (sum > 0);
        bits += away ? 1 : static_cast<std::uint64_t>(-1);
        sum = bit_cast<double>(bits);
      }
    }
  }
  return narrow_to_odd(sum);
}

}  // namespace simt

// clang-format off
#define SIMT_FLOAT16_OPERATIONS(T, T2, from_float, to_float)                                                          \
  inline T __hadd(T a, T b) { return from_float(to_float(a) + to_float(b)); }                                         \
  inline T __hsub(T a, T b) { return from_float(to_float(a) - to_float(b)); }                                         \
  inline T __hmul(T a, T b) { return from_float(to_float(a) * to_float(b)); }                                         \
  inline T __hdiv(T a, T b) { return from_float(to_float(a) / to_float(b)); }                                         \
  inline T __hadd_rn(T a, T b) { return __hadd(a, b); }                                                               \
  inline T __hsub_rn(T a, T b) { return __hsub(a, b); }                                                               \
  inline T __hmul_rn(T a, T b) { return __hmul(a, b); }                                                               \
  inline T __hfma(T a, T b, T c) { return from_float(simt::fma_to_odd(to_float(a), to_float(b), to_float(c))); }      \
  inline T __hfma_relu(T a, T b, T c) { T r = __hfma(a, b, c); return to_float(r) < 0 ? from_float(0.0f) : r; }       \
  inline T __hneg(T a) { return from_float(-to_float(a)); }                                                           \
  inline T __habs(T a) { return from_float(::fabsf(to_float(a))); }                                                   \
  inline T __hmax(T a, T b) { return from_float(::fmaxf(to_float(a), to_float(b))); }                                 \
  inline T __hmin(T a, T b) { return from_float(::fminf(to_float(a), to_float(b))); }                                 \
  inline T __hmax_nan(T a, T b) { float x = to_float(a), y = to_float(b); return x != x ? a : y != y ? b : __hmax(a, b); } \
  inline T __hmin_nan(T a, T b) { float x = to_float(a), y = to_float(b); return x != x ? a : y != y ? b : __hmin(a, b); } \
  inline bool __heq(T a, T b) { return to_float(a) == to_float(b); }                                                  \
  inline bool __hne(T a, T b) { float x = to_float(a), y = to_float(b); return x < y || x > y; }                      \
  inline bool __hlt(T a, T b) { return to_float(a) < to_float(b); }                                                   \
  inline bool __hle(T a, T b) { return to_float(a) <= to_float(b); }                                                  \
  inline bool __hgt(T a, T b) { return to_float(a) > to_float(b); }                                                   \
  inline bool __hge(T a, T b) { return to_float(a) >= to_float(b); }                                                  \
  inline bool __hisnan(T a) { float x = to_float(a); return x != x; }                                                 \
  inline int __hisinf(T a) { float x = to_float(a); return x == INFINITY ? 1 : x == -INFINITY ? -1 : 0; }             \
  inline T hexp(T a) { return from_float(::expf(to_float(a))); }                                                      \
  inline T hexp2(T a) { return from_float(::exp2f(to_float(a))); }                                                    \
  inline T hlog(T a) { return from_float(::logf(to_float(a))); }                                                      \
  inline T hlog2(T a) { return from_float(::log2f(to_float(a))); }                                                    \
  inline T hsqrt(T a) { return from_float(::sqrtf(to_float(a))); }                                                    \
  inline T hrsqrt(T a) { return from_float(static_cast<float>(1.0 / ::sqrt(static_cast<double>(to_float(a))))); }     \
  inline T hrcp(T a) { return from_float(1.0f / to_float(a)); }                                                       \
  inline T hsin(T a) { return from_float(::sinf(to_float(a))); }                                                      \
  inline T hcos(T a) { return from_float(::cosf(to_float(a))); }                                                      \
  inline T htanh(T a) { return from_float(::tanhf(to_float(a))); }                                                    \
  inline T hfloor(T a) { return from_float(::floorf(to_float(a))); }                                                  \
  inline T hceil(T a) { return from_float(::ceilf(to_float(a))); }                                                    \
  inline T hrint(T a) { return from_float(::nearbyintf(to_float(a))); }                                               \
  inline T htrunc(T a) { return from_float(::truncf(to_float(a))); }                                                  \
  inline T operator+(T a, T b) { return __hadd(a, b); }                                                               \
  inline T operator-(T a, T b) { return __hsub(a, b); }                                                               \
  inline T operator*(T a, T b) { return __hmul(a, b); }                                                               \
  inline T operator/(T a, T b) { return __hdiv(a, b); }                                                               \
  inline T operator-(T a) { return __hneg(a); }                                                                       \
  inline T operator+(T a) { return a; }                                                                               \
  inline T& operator+=(T& a, T b) { return a = a + b; }                                                               \
  inline T& operator-=(T& a, T b) { return a = a - b; }                                                               \
  inline T& operator*=(T& a, T b) { return a = a * b; }                                                               \
  inline T& operator/=(T& a, T b) { return a = a / b; }                                                               \
  inline bool operator==(T a, T b) { return to_float(a) == to_float(b); }                                             \
  inline bool operator!=(T a, T b) { return to_float(a) != to_float(b); }                                             \
  inline bool operator<(T a, T b) { return to_float(a) < to_float(b); }                                               \
  inline bool operator<=(T a, T b) { return to_float(a) <= to_float(b); }                                             \
  inline bool operator>(T a, T b) { return to_float(a) > to_float(b); }                                               \
  inline bool operator>=(T a, T b) { return to_float(a) >= to_float(b); }                                             \
  inline T2 __hadd2(T2 a, T2 b) { return T2(__hadd(a.x, b.x), __hadd(a.y, b.y)); }                                    \
  inline T2 __hsub2(T2 a, T2 b) { return T2(__hsub(a.x, b.x), __hsub(a.y, b.y)); }                                    \
  inline T2 __hmul2(T2 a, T2 b) { return T2(__hmul(a.x, b.x), __hmul(a.y, b.y)); }                                    \
  inline T2 __h2div(T2 a, T2 b) { return T2(__hdiv(a.x, b.x), __hdiv(a.y, b.y)); }                                    \
  inline T2 __hadd2_rn(T2 a, T2 b) { return __hadd2(a, b); }                                                          \
  inline T2 __hmul2_rn(T2 a, T2 b) { return __hmul2(a, b); }                                                          \
  inline T2 __hfma2(T2 a, T2 b, T2 c) { return T2(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)); }                    \
  inline T2 __hneg2(T2 a) { return T2(__hneg(a.x), __hneg(a.y)); }                                                    \
  inline T2 __habs2(T2 a) { return T2(__habs(a.x), __habs(a.y)); }                                                    \
  inline T2 __hmax2(T2 a, T2 b) { return T2(__hmax(a.x, b.x), __hmax(a.y, b.y)); }                                    \
  inline T2 __hmin2(T2 a, T2 b) { return T2(__hmin(a.x, b.x), __hmin(a.y, b.y)); }                                    \
  inline T2 h2exp(T2 a) { return T2(hexp(a.x), hexp(a.y)); }                                                          \
  inline T2 h2rsqrt(T2 a) { return T2(hrsqrt(a.x), hrsqrt(a.y)); }                                                    \
  inline T2 operator+(T2 a, T2 b) { return __hadd2(a, b); }                                                           \
  inline T2 operator-(T2 a, T2 b) { return __hsub2(a, b); }                                                           \
  inline T2 operator*(T2 a, T2 b) { return __hmul2(a, b); }                                                           \
  inline T2 operator/(T2 a, T2 b) { return __h2div(a, b); }                                                           \
  inline T2& operator+=(T2& a, T2 b) { return a = a + b; }                                                            \
  inline T2& operator*=(T2& a, T2 b) { return a = a * b; }                                                            \
  inline T atomicAdd(T* p, T v) { return simt::atomic_update_16(p, [v](T old) { return __hadd(old, v); }); }          \
  inline T2 atomicAdd(T2* p, T2 v) { return T2(atomicAdd(&p->x, v.x), atomicAdd(&p->y, v.y)); }
// clang-format on

namespace simt {

template <class T, class Combine>
T atomic_update_16(T* address, Combine combine) {
  std::uint16_t* bits = reinterpret_cast<std::uint16_t*>(address);
  std::uint16_t old = __atomic_load_n(bits, __ATOMIC_RELAXED);
  for (;;) {
    const std::uint16_t desired = bit_cast<std::uint16_t>(combine(bit_cast<T>(old)));
    if (__atomic_compare_exchange_n(bits, &old, desired, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
      return bit_cast<T>(old);
  }
}

}  // namespace simt
