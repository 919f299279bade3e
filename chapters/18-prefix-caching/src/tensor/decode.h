// Weights as float32, whatever type they are stored in.
#pragma once

#include <cstdint>

#include "tensor/tensor.h"

namespace rung {

// Decodes `elements` elements (a multiple of the dtype's block) from src to dst, bit for bit as the `gguf`
// package's dequantizers do.
void decode_row(DType dtype, const void* src, float* dst, int64_t elements);

// A host tensor as float32: itself if it is float32 already, else a decoded copy.
Tensor to_f32(const Tensor& tensor);

}  // namespace rung
