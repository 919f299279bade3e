// The residual connection: y += x.
#pragma once

#include "rung/device.h"
#include "tensor/tensor.h"

namespace rung {

// y, x of the same shape, f32.
void add(Cpu& device, Tensor& y, const Tensor& x);
void add(Cuda& device, Tensor& y, const Tensor& x);

}  // namespace rung
