// How far a matrix product on CUDA may be from the CPU's.
#pragma once

#include <cmath>
#include <string>

#include "ops/matmul.h"
#include "tensor/decode.h"
#include "tensor/float16.h"
#include "testing/compare.h"
#include "testing/data.h"
#include "tests/devices.h"

namespace rung::testing {

// x as a kernel sees it that rounds it to dtype.
inline Tensor rounded(const Tensor& x, DType dtype) {
  Tensor copy = Tensor::host(DType::f32, x.shape());
  for (int64_t i = 0; i < x.elements(); ++i) {
    const float value = x.data<float>()[i];
    copy.data<float>()[i] = dtype == DType::f16    ? f16_to_f32(f32_to_f16(value))
                            : dtype == DType::bf16 ? bf16_to_f32(f32_to_bf16(value))
                                                   : value;
  }
  return copy;
}

inline Tensor absolute(const Tensor& tensor) {
  Tensor copy = Tensor::host(DType::f32, tensor.shape());
  for (int64_t i = 0; i < tensor.elements(); ++i) copy.data<float>()[i] = std::abs(tensor.data<float>()[i]);
  return copy;
}

// What is wrong with a product [rows, out] of x [rows, in] with weight [out, in], or "". bias: [out], or
// empty. An element may differ from the CPU's by 2^-24 of the sum of its products' magnitudes for each of the
// additions: `in` and the bias there, a sixteenth of that on CUDA.
inline std::string matmul_difference(const Tensor& got, const Tensor& x, const Tensor& weight,
                                     const Tensor& bias) {
  Cpu& cpu = the_device<Cpu>();
  const int64_t rows = x.shape()[0], out = weight.shape()[0], in = weight.shape()[1];
  Tensor expected = Tensor::host(DType::f32, {rows, out}), magnitude = Tensor::host(DType::f32, {rows, out});
  matmul(cpu, expected, x, weight, bias);
  matmul(cpu, magnitude, absolute(x), absolute(to_f32(weight)), bias.empty() ? bias : absolute(bias));
  for (int64_t i = 0; i < rows * out; ++i) {
    const float error = std::abs(got.data<float>()[i] - expected.data<float>()[i]);
    const float allowed =
        std::ldexp(magnitude.data<float>()[i] * (1.0625f * static_cast<float>(in) + 6), -24);
    if (!(error <= allowed)) return compare(floats(got), floats(expected), allowed);
  }
  return "";
}

}  // namespace rung::testing
