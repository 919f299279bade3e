// half and bfloat16: all bit patterns, rounding to nearest even, arithmetic rounded once.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "device_array.h"
#include "testing/catch.h"

using simt_tests::DeviceArray;

namespace {

struct Half {
  using Type = __half;
  static constexpr int mantissa = 10, bias = 15, infinity = 0x7c00;
};
struct Bfloat16 {
  using Type = __nv_bfloat16;
  static constexpr int mantissa = 7, bias = 127, infinity = 0x7f80;
};

template <class T>
__device__ T from_bits(unsigned short bits) {
  T value;
  memcpy(&value, &bits, 2);
  return value;
}
template <class T>
__device__ unsigned short to_bits(T value) {
  unsigned short bits;
  memcpy(&bits, &value, 2);
  return bits;
}

__device__ __half convert(float f, __half) {
  return __float2half_rn(f);
}
__device__ __nv_bfloat16 convert(float f, __nv_bfloat16) {
  return __float2bfloat16_rn(f);
}
__device__ float widen(__half h) {
  return __half2float(h);
}
__device__ float widen(__nv_bfloat16 b) {
  return __bfloat162float(b);
}

template <class T>
__global__ void decode_all(float* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = widen(from_bits<T>(static_cast<unsigned short>(i)));
}
template <class T>
__global__ void encode(const float* in, unsigned short* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[i] = to_bits(convert(in[i], T()));
}
template <class T>
__global__ void compute(const unsigned short* in, unsigned short* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  const T a = from_bits<T>(in[3 * i]), b = from_bits<T>(in[3 * i + 1]), c = from_bits<T>(in[3 * i + 2]);
  out[4 * i] = to_bits(static_cast<T>(a + b));
  out[4 * i + 1] = to_bits(static_cast<T>(a * b));
  out[4 * i + 2] = to_bits(__hsub(a, b));
  out[4 * i + 3] = to_bits(__hfma(a, b, c));
}

/// Value of a bit pattern, from its definition.
template <class F>
double value_of(unsigned bits) {
  const int exponent = static_cast<int>(bits & 0x7fff) >> F::mantissa;
  const double fraction = static_cast<double>(bits & ((1u << F::mantissa) - 1)) / (1 << F::mantissa);
  const double magnitude =
      exponent == 0 ? std::ldexp(fraction, 1 - F::bias) : std::ldexp(1 + fraction, exponent - F::bias);
  return bits & 0x8000 ? -magnitude : magnitude;
}

/// Nearest pattern by search among all of them, ties to the even one; long double holds the exact operands'
/// results.
template <class F>
unsigned nearest(long double x) {
  const unsigned sign = std::signbit(x) ? 0x8000u : 0;
  const long double magnitude = std::fabs(x);
  unsigned low = 0, high = F::infinity;
  while (high - low > 1) {
    const unsigned middle = (low + high) / 2;
    (static_cast<long double>(value_of<F>(middle)) <= magnitude ? low : high) = middle;
  }
  const long double below = value_of<F>(low);
  // "infinity" counts as the next value of the largest binade.
  const long double above = high == static_cast<unsigned>(F::infinity)
                                ? 2 * below - value_of<F>(low - 1)
                                : static_cast<long double>(value_of<F>(high));
  const long double to_low = magnitude - below, to_high = above - magnitude;
  const bool take_low = to_low < to_high || (to_low == to_high && low % 2 == 0);
  return sign | (take_low ? low : high);
}

template <class F>
void check_decode() {
  DeviceArray<float> out(65536);
  decode_all<typename F::Type><<<256, 256>>>(out.get());
  const std::vector<float> values = out.values();
  for (unsigned i = 0; i < 65536; ++i) {
    const unsigned magnitude = i & 0x7fff;
    if (magnitude > static_cast<unsigned>(F::infinity)) {
      if (!std::isnan(values[i])) FAIL("pattern " << i << " should be NaN");
    } else if (magnitude == static_cast<unsigned>(F::infinity)) {
      if (values[i] != (i & 0x8000 ? -INFINITY : INFINITY)) FAIL("pattern " << i << " should be infinite");
    } else if (static_cast<double>(values[i]) != value_of<F>(i) ||
               std::signbit(values[i]) != ((i & 0x8000) != 0)) {
      FAIL("pattern " << i << " is " << values[i] << ", expected " << value_of<F>(i));
    }
  }
}

template <class F>
void check_encode() {
  std::vector<float> inputs{0.0f,      -0.0f,    INFINITY,      -INFINITY,    65504.0f,
                            65519.99f, 65520.0f, 65536.0f,      3.3895e38f,   3.4e38f,
                            1e-8f,     2.98e-8f, 2.9802322e-8f, 5.9604645e-8f};
  std::mt19937 random(7);
  for (int i = 0; i < 4000; ++i) {
    // Exact values, midpoints between neighbours, and midpoints moved by the smallest step.
    const unsigned bits = random() % static_cast<unsigned>(F::infinity - 1);
    const double middle = (value_of<F>(bits) + value_of<F>(bits + 1)) / 2;
    const float f = static_cast<float>(middle);
    for (float x :
         {static_cast<float>(value_of<F>(bits)), f, std::nextafter(f, 0.0f), std::nextafter(f, 1e38f)})
      inputs.push_back(random() % 2 ? x : -x);
  }
  DeviceArray<float> in(inputs);
  DeviceArray<unsigned short> out(inputs.size());
  encode<typename F::Type><<<static_cast<unsigned>(inputs.size() + 255) / 256, 256>>>(
      in.get(), out.get(), static_cast<int>(inputs.size()));
  const std::vector<unsigned short> values = out.values();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const unsigned expected = std::isinf(inputs[i])
                                  ? (inputs[i] > 0 ? 0u : 0x8000u) | static_cast<unsigned>(F::infinity)
                                  : nearest<F>(inputs[i]);
    if (values[i] != expected) FAIL(inputs[i] << " gave " << values[i] << ", expected " << expected);
  }
}

template <class F>
void check_arithmetic() {
  std::mt19937 random(11);
  std::vector<unsigned short> inputs;
  const int n = 4000;
  for (int i = 0; i < 3 * n; ++i) {
    // Exponents near each other, so that sums round in interesting places.
    const unsigned exponent = static_cast<unsigned>(F::bias) - 6 + random() % 12;
    inputs.push_back(static_cast<unsigned short>((random() % 2) << 15 | exponent << F::mantissa |
                                                 random() % (1u << F::mantissa)));
  }
  DeviceArray<unsigned short> in(inputs), out(4 * n);
  compute<typename F::Type><<<(n + 127) / 128, 128>>>(in.get(), out.get(), n);
  const std::vector<unsigned short> values = out.values();
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
    const long double a = value_of<F>(inputs[3 * i]), b = value_of<F>(inputs[3 * i + 1]),
                      c = value_of<F>(inputs[3 * i + 2]);
    const long double exact[4] = {a + b, a * b, a - b, a * b + c};
    for (std::size_t k = 0; k < 4; ++k) {
      if (exact[k] == 0) continue;  // the sign of zero is another matter
      if (values[4 * i + k] != nearest<F>(exact[k]))
        FAIL("operation " << k << " on " << double(a) << ", " << double(b) << ", " << double(c) << " gave "
                          << values[4 * i + k] << ", expected " << nearest<F>(exact[k]));
    }
  }
}

__global__ void pairs(const float2* in, float* out) {
  const __half2 h = __float22half2_rn(in[0]);
  const __half2 product = __hmul2(h, __float2half2_rn(2.0f));
  out[0] = __low2float(product);
  out[1] = __high2float(product);
  const __nv_bfloat162 b = __floats2bfloat162_rn(in[0].x, in[0].y);
  const float2 sum = __bfloat1622float2(__hadd2(b, b));
  out[2] = sum.x;
  out[3] = sum.y;
}

}  // namespace

TEST_CASE("every half and bfloat16 pattern decodes exactly", "[simt][slow]") {
  check_decode<Half>();
  check_decode<Bfloat16>();
}

TEST_CASE("float to half and bfloat16 rounds to nearest, ties to even", "[simt][slow]") {
  check_encode<Half>();
  check_encode<Bfloat16>();
}

TEST_CASE("half and bfloat16 arithmetic rounds once", "[simt][slow]") {
  check_arithmetic<Half>();
  check_arithmetic<Bfloat16>();
}

TEST_CASE("pairs of half and bfloat16", "[simt]") {
  DeviceArray<float2> in(std::vector<float2>{make_float2(1.5f, -2.0f)});
  DeviceArray<float> out(4);
  pairs<<<1, 1>>>(in.get(), out.get());
  REQUIRE(out.values() == std::vector<float>{3.0f, -4.0f, 3.0f, -4.0f});
}
