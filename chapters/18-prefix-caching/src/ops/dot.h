// Dot products of stored rows with float32 rows, the inner loops of every matrix product on the CPU. One
// implementation for each SIMD instruction set (Highway), chosen when the program runs.
//
// The order of summation is part of the contract. The element at place i of a row is added, fused, to partial
// sum i mod 16; the sixteen sums are then folded in half four times: l + (l + 8), l + (l + 4), l + (l + 2), 0
// + 1. Every function here does that for every output, so a result has the same bits whichever of them
// computed it.
#pragma once

#include <cstddef>

#include "tensor/dtype.h"

namespace rung {

// Types whose sixteen elements lie in the bytes of four 32-bit words are decoded in interleaved order
// (block_decode-inl.h says why): element 4 * k + j of each sixteen stands at 4 * j + k. x must then be in
// that order too.
bool is_interleaved(DType dtype);
// Brings `count` elements into that order, or back from it; those after the last whole sixteen stay.
void interleave(const float* x, size_t count, float* dst);

// y[o] = row o of weight . x, for `rows` rows of `in` elements each, stored one after the other as dtype; x
// interleaved if dtype is.
void dot_rows(DType dtype, const void* weight, size_t rows, size_t in, const float* x, float* y);

// Decodes rows stored one after the other as dtype, to interleaved order if dtype is: dst [rows, in].
void decode_rows(DType dtype, const void* weight, size_t rows, size_t in, float* dst);

// y[r * y_stride + o] = a[o * a_stride …] . x[r * x_stride …] for o < a_rows and r < x_rows; rows of `in`
// elements.
void dot_tiles(const float* a, size_t a_rows, size_t a_stride, const float* x, size_t x_rows, size_t x_stride,
               size_t in, float* y, size_t y_stride);

}  // namespace rung
