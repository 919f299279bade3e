// The versions of the matrix product on CUDA, each callable by name so that tests and measurements can set
// them side by side. All take what matmul() takes and give the same result but for rounding: their orders of
// summation differ.
#pragma once

#include "rung/device.h"
#include "tensor/tensor.h"

namespace rung {

// One thread an element of y, reading all it needs from global memory.
void matmul_naive(Cuda& device, Tensor& y, const Tensor& x, const Tensor& weight,
                  const Tensor& bias = Tensor());

// One block a square tile of y, whose threads share the pieces of x and weight that they read.
void matmul_tiled(Cuda& device, Tensor& y, const Tensor& x, const Tensor& weight,
                  const Tensor& bias = Tensor());

// One warp a row of the weight, for at most kGemvRows rows of x: the weight is read once, 16 bytes a lane. A
// row of y has the same bits whatever the number of rows.
constexpr int kGemvRows = 8;
void matmul_gemv(Cuda& device, Tensor& y, const Tensor& x, const Tensor& weight,
                 const Tensor& bias = Tensor());

// cuBLAS: true float32 for a float32 weight; for 16-bit weights x is rounded to the weight's type first, for
// tensor cores.
void matmul_cublas(Cuda& device, Tensor& y, const Tensor& x, const Tensor& weight,
                   const Tensor& bias = Tensor());

// Any number of rows, each with the same bits whatever other rows there are. For 16-bit weights on tensor
// cores, with x rounded to the weight's type; for others, and for rows whose length is no multiple of 8, the
// warp-per-row kernel again and again.
void matmul_invariant(Cuda& device, Tensor& y, const Tensor& x, const Tensor& weight,
                      const Tensor& bias = Tensor());

}  // namespace rung
