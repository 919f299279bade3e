// Root mean square layer normalization (Zhang and Sennrich 2019, arXiv:1910.07467), row by row:
//
//   y[r][c] = x[r][c] / sqrt(mean over c of x[r][c]^2 + epsilon) * weight[c]
#pragma once

#include "rung/device.h"
#include "tensor/tensor.h"

namespace rung {

// y, x [rows, columns] f32 (may be the same memory); weight [columns] f32. Also serves per-head norms: view
// [tokens, heads * head_dim] as [tokens * heads, head_dim]. On CUDA, if columns is a multiple of 4, all of
// them begin at a multiple of 16 bytes, as whole tensors do and slices of their rows.
void rms_norm(Cpu& device, Tensor& y, const Tensor& x, const Tensor& weight, float epsilon);
void rms_norm(Cuda& device, Tensor& y, const Tensor& x, const Tensor& weight, float epsilon);

// The residual connection and the norm after it in one pass: residual += x, then y = rms_norm(residual).
// residual, x, y [rows, columns] f32, aligned as above.
void add_rms_norm(Cpu& device, Tensor& y, Tensor& residual, const Tensor& x, const Tensor& weight,
                  float epsilon);
void add_rms_norm(Cuda& device, Tensor& y, Tensor& residual, const Tensor& x, const Tensor& weight,
                  float epsilon);

}  // namespace rung
