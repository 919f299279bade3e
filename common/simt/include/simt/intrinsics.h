// Device intrinsics: bit operations, type punning, rounded arithmetic, fast approximations (exact here),
// cached loads.
#pragma once

#include <math.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace simt {

template <class To, class From>
inline To bit_cast(const From& from) {
  static_assert(sizeof(To) == sizeof(From), "same size");
  To to;
  std::memcpy(&to, &from, sizeof(To));
  return to;
}

}  // namespace simt

// glibc declares these names; CUDA gives them a meaning: quick approximations. Here they are as exact as the
// C library's.
extern "C" {
inline float __expf(float x) noexcept {
  return ::expf(x);
}
inline float __exp10f(float x) noexcept {
  return ::powf(10.0f, x);
}
inline float __logf(float x) noexcept {
  return ::logf(x);
}
inline float __log2f(float x) noexcept {
  return ::log2f(x);
}
inline float __log10f(float x) noexcept {
  return ::log10f(x);
}
inline float __sinf(float x) noexcept {
  return ::sinf(x);
}
inline float __cosf(float x) noexcept {
  return ::cosf(x);
}
inline float __tanf(float x) noexcept {
  return ::tanf(x);
}
inline float __powf(float x, float y) noexcept {
  return ::powf(x, y);
}
inline void __sincosf(float x, float* s, float* c) noexcept {
  ::sincosf(x, s, c);
}
}
inline float __exp2f_approx(float x) {
  return ::exp2f(x);
}
inline float __tanhf(float x) {
  return ::tanhf(x);
}
inline float __fdividef(float x, float y) {
  return x / y;
}
inline float __saturatef(float x) {
  return !(x > 0.0f) ? 0.0f : x > 1.0f ? 1.0f : x;
}

inline float rsqrtf(float x) {
  return 1.0f / ::sqrtf(x);
}
inline double rsqrt(double x) {
  return 1.0 / ::sqrt(x);
}
inline float rcbrtf(float x) {
  return 1.0f / ::cbrtf(x);
}
inline float sinpif(float x) {
  return static_cast<float>(::sin(static_cast<double>(x) * 3.14159265358979323846));
}
inline float cospif(float x) {
  return static_cast<float>(::cos(static_cast<double>(x) * 3.14159265358979323846));
}
inline float fdividef(float x, float y) {
  return x / y;
}
inline float norm3df(float a, float b, float c) {
  return ::sqrtf(a * a + b * b + c * c);
}

// Rounded to nearest, and never fused with a neighbour: emulated sources are built with -ffp-contract=off.
inline float __fadd_rn(float a, float b) {
  return a + b;
}
inline float __fsub_rn(float a, float b) {
  return a - b;
}
inline float __fmul_rn(float a, float b) {
  return a * b;
}
inline float __fdiv_rn(float a, float b) {
  return a / b;
}
inline float __fmaf_rn(float a, float b, float c) {
  return ::fmaf(a, b, c);
}
inline float __fsqrt_rn(float a) {
  return ::sqrtf(a);
}
inline float __frcp_rn(float a) {
  return 1.0f / a;
}
inline float __frsqrt_rn(float a) {
  return static_cast<float>(1.0 / ::sqrt(static_cast<double>(a)));
}
inline double __dadd_rn(double a, double b) {
  return a + b;
}
inline double __dsub_rn(double a, double b) {
  return a - b;
}
inline double __dmul_rn(double a, double b) {
  return a * b;
}
inline double __ddiv_rn(double a, double b) {
  return a / b;
}
inline double __fma_rn(double a, double b, double c) {
  return ::fma(a, b, c);
}

inline int __float_as_int(float x) {
  return simt::bit_cast<int>(x);
}
inline unsigned __float_as_uint(float x) {
  return simt::bit_cast<unsigned>(x);
}
inline float __int_as_float(int x) {
  return simt::bit_cast<float>(x);
}
inline float __uint_as_float(unsigned x) {
  return simt::bit_cast<float>(x);
}
inline long long __double_as_longlong(double x) {
  return simt::bit_cast<long long>(x);
}
inline double __longlong_as_double(long long x) {
  return simt::bit_cast<double>(x);
}

namespace simt {
/// Float to integer as the GPU does it: NaN is 0, what does not fit saturates.
template <class Integer>
inline Integer saturating(double x, double low, double high) {
  if (x != x) return 0;
  if (x <= low) return static_cast<Integer>(low);
  if (x >= high)
    return high == 2147483647.0 ? static_cast<Integer>(2147483647) : static_cast<Integer>(4294967295u);
  return static_cast<Integer>(x);
}
}  // namespace simt
inline int __float2int_rn(float x) {
  return simt::saturating<int>(::nearbyint(static_cast<double>(x)), -2147483648.0, 2147483647.0);
}
inline int __float2int_rz(float x) {
  return simt::saturating<int>(::trunc(static_cast<double>(x)), -2147483648.0, 2147483647.0);
}
inline int __float2int_rd(float x) {
  return simt::saturating<int>(::floor(static_cast<double>(x)), -2147483648.0, 2147483647.0);
}
inline int __float2int_ru(float x) {
  return simt::saturating<int>(::ceil(static_cast<double>(x)), -2147483648.0, 2147483647.0);
}
inline unsigned __float2uint_rn(float x) {
  return simt::saturating<unsigned>(::nearbyint(static_cast<double>(x)), 0.0, 4294967295.0);
}
inline unsigned __float2uint_rz(float x) {
  return simt::saturating<unsigned>(::trunc(static_cast<double>(x)), 0.0, 4294967295.0);
}
inline float __int2float_rn(int x) {
  return static_cast<float>(x);
}
inline float __uint2float_rn(unsigned x) {
  return static_cast<float>(x);
}
inline float __double2float_rn(double x) {
  return static_cast<float>(x);
}

inline int __popc(unsigned x) {
  return __builtin_popcount(x);
}
inline int __popcll(unsigned long long x) {
  return __builtin_popcountll(x);
}
inline int __clz(int x) {
  return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x));
}
inline int __clzll(long long x) {
  return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x));
}
inline int __ffs(int x) {
  return __builtin_ffs(x);
}
inline int __ffsll(long long x) {
  return __builtin_ffsll(x);
}
inline unsigned __brev(unsigned x) {
  unsigned r = 0;
  for (int i = 0; i < 32; ++i) r |= ((x >> i) & 1u) << (31 - i);
  return r;
}
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const std::uint64_t bytes = (static_cast<std::uint64_t>(y) << 32) | x;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned s = (selector >> (4 * i)) & 0xf;
    unsigned byte = static_cast<unsigned>(bytes >> (8 * (s & 7))) & 0xff;
    if (s & 8) byte = (byte & 0x80) ? 0xff : 0;
    result |= byte << (8 * i);
  }
  return result;
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  const std::uint64_t v = (static_cast<std::uint64_t>(high) << 32) | low;
  return static_cast<unsigned>((v << (shift & 31)) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  const std::uint64_t v = (static_cast<std::uint64_t>(high) << 32) | low;
  return static_cast<unsigned>(v >> (shift & 31));
}
inline int __mulhi(int a, int b) {
  return static_cast<int>((static_cast<long long>(a) * b) >> 32);
}
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<unsigned long long>(a) * b) >> 32);
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>((static_cast<unsigned __int128>(a) * b) >> 64);
}
inline int __mul24(int a, int b) {
  return a * b;
}

/// Four products of signed (unsigned) bytes, added to c.
inline int __dp4a(int a, int b, int c) {
  unsigned sum = static_cast<unsigned>(c);
  for (int i = 0; i < 4; ++i) {
    sum += static_cast<unsigned>(
        static_cast<int>(static_cast<signed char>(static_cast<unsigned>(a) >> (8 * i))) *
        static_cast<int>(static_cast<signed char>(static_cast<unsigned>(b) >> (8 * i))));
  }
  return static_cast<int>(sum);
}
inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  for (int i = 0; i < 4; ++i) c += ((a >> (8 * i)) & 0xff) * ((b >> (8 * i)) & 0xff);
  return c;
}

// Byte-wise SIMD inside a word.
inline unsigned __vsubss4(unsigned a, unsigned b) {
  unsigned r = 0;
  for (int i = 0; i < 4; ++i) {
    int v = static_cast<signed char>(a >> (8 * i)) - static_cast<signed char>(b >> (8 * i));
    v = v > 127 ? 127 : v < -128 ? -128 : v;
    r |= (static_cast<unsigned>(v) & 0xff) << (8 * i);
  }
  return r;
}
inline unsigned __vsub4(unsigned a, unsigned b) {
  unsigned r = 0;
  for (int i = 0; i < 4; ++i) r |= (((a >> (8 * i)) - (b >> (8 * i))) & 0xff) << (8 * i);
  return r;
}
inline unsigned __vadd4(unsigned a, unsigned b) {
  unsigned r = 0;
  for (int i = 0; i < 4; ++i) r |= (((a >> (8 * i)) + (b >> (8 * i))) & 0xff) << (8 * i);
  return r;
}

#define SIMT_LOAD(name)       \
  template <class T>          \
  inline T name(const T* p) { \
    return *p;                \
  }
SIMT_LOAD(__ldg)
SIMT_LOAD(__ldcg)
SIMT_LOAD(__ldca)
SIMT_LOAD(__ldcs)
SIMT_LOAD(__ldlu)
SIMT_LOAD(__ldcv)
#undef SIMT_LOAD
#define SIMT_STORE(name)        \
  template <class T>            \
  inline void name(T* p, T v) { \
    *p = v;                     \
  }
SIMT_STORE(__stwb)
SIMT_STORE(__stcg)
SIMT_STORE(__stcs)
SIMT_STORE(__stwt)
#undef SIMT_STORE

// min and max at global scope, mixed signs as CUDA's headers resolve them.
#define SIMT_MINMAX(R, A, B)                                                              \
  inline R min(A a, B b) {                                                                \
    return static_cast<R>(a) < static_cast<R>(b) ? static_cast<R>(a) : static_cast<R>(b); \
  }                                                                                       \
  inline R max(A a, B b) {                                                                \
    return static_cast<R>(a) > static_cast<R>(b) ? static_cast<R>(a) : static_cast<R>(b); \
  }
SIMT_MINMAX(int, int, int)
SIMT_MINMAX(unsigned, unsigned, unsigned)
SIMT_MINMAX(unsigned, int, unsigned)
SIMT_MINMAX(unsigned, unsigned, int)
SIMT_MINMAX(long, long, long)
SIMT_MINMAX(unsigned long, unsigned long, unsigned long)
SIMT_MINMAX(unsigned long, long, unsigned long)
SIMT_MINMAX(unsigned long, unsigned long, long)
SIMT_MINMAX(long long, long long, long long)
SIMT_MINMAX(unsigned long long, unsigned long long, unsigned long long)
SIMT_MINMAX(unsigned long long, long long, unsigned long long)
SIMT_MINMAX(unsigned long long, unsigned long long, long long)
#undef SIMT_MINMAX
inline float min(float a, float b) {
  return ::fminf(a, b);
}
inline float max(float a, float b) {
  return ::fmaxf(a, b);
}
inline double min(double a, double b) {
  return ::fmin(a, b);
}
inline double max(double a, double b) {
  return ::fmax(a, b);
}
inline double min(float a, double b) {
  return ::fmin(a, b);
}
inline double max(float a, double b) {
  return ::fmax(a, b);
}
inline double min(double a, float b) {
  return ::fmin(a, b);
}
inline double max(double a, float b) {
  return ::fmax(a, b);
}
inline unsigned umin(unsigned a, unsigned b) {
  return a < b ? a : b;
}
inline unsigned umax(unsigned a, unsigned b) {
  return a > b ? a : b;
}

/// Address-space conversions: a pointer is a pointer here.
inline std::size_t __cvta_generic_to_shared(const void* p) {
  return reinterpret_cast<std::size_t>(p);
}
inline std::size_t __cvta_generic_to_global(const void* p) {
  return reinterpret_cast<std::size_t>(p);
}
