// The gated activation of the feed-forward block (Shazeer 2020, arXiv:2002.05202):
//
//   silu(g) = g / (1 + exp(-g))
//   y       = silu(gate) * up
#pragma once

#include "rung/device.h"
#include "tensor/tensor.h"

namespace rung {

// All of the same shape, f32; y may be gate or up.
void silu(Cpu& device, Tensor& y, const Tensor& x);
void silu(Cuda& device, Tensor& y, const Tensor& x);
void multiply(Cpu& device, Tensor& y, const Tensor& a, const Tensor& b);
void multiply(Cuda& device, Tensor& y, const Tensor& a, const Tensor& b);

// Both in one pass: the intermediate never goes to memory.
void swiglu(Cpu& device, Tensor& y, const Tensor& gate, const Tensor& up);
void swiglu(Cuda& device, Tensor& y, const Tensor& gate, const Tensor& up);

}  // namespace rung
