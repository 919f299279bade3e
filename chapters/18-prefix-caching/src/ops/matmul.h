// Matrix product of activations with a weight, as a linear layer needs it:
//
//   y[r][o] = sum over i of x[r][i] * weight[o][i]  (+ bias[o])
//
// Both file formats store a weight as [out, in], so a row of it meets a row of x: two contiguous dot
// products. The order in which one output element is summed depends neither on the number of rows nor on
// threads: the same row gives the same bits in any batch.
#pragma once

#include "rung/device.h"
#include "tensor/tensor.h"

namespace rung {

// y      [rows, out] f32
// x      [rows, in] f32
// weight [out, in]: on Cpu any dtype, decoded in registers; on Cuda f32, f16 or bf16
// bias   [out] f32, or an empty Tensor
void matmul(Cpu& device, Tensor& y, const Tensor& x, const Tensor& weight, const Tensor& bias = Tensor());
void matmul(Cuda& device, Tensor& y, const Tensor& x, const Tensor& weight, const Tensor& bias = Tensor());

}  // namespace rung
