// Copies float32 elements into a tensor of another plain type, rounding to nearest even: how keys and values
// enter a cache that is kept in 16 bits.
#pragma once

#include "rung/device.h"
#include "tensor/tensor.h"

namespace rung {

// y f32, f16 or bf16; x f32 with as many elements.
void convert(Cpu& device, Tensor& y, const Tensor& x);
void convert(Cuda& device, Tensor& y, const Tensor& x);

}  // namespace rung
