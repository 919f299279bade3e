// The two inner loops of attention beside the dot products of ops/dot.h: the softmax of a row of scores, and
// sums of value rows. One implementation for each SIMD instruction set (Highway).
#pragma once

#include <cstddef>

#include "ops/online_softmax.h"

namespace rung {

// Turns `count` raw scores into exp(score * scale - maximum of those) and returns the maximum and their sum,
// added as the dot products of ops/dot.h are: element i to partial sum i mod 16. Dividing by it makes them
// the softmax.
SoftmaxState softmax_numerators(float* scores, size_t count, float scale);

// y[r][d] += sum over keys j < count, in ascending order, of weights[r][j] * v[j][d], for d < head_dim and
// `rows` rows. Strides count elements.
void add_weighted_rows(float* y, size_t y_stride, size_t rows, const float* weights, size_t weights_stride,
                       const float* v, size_t v_stride, size_t count, size_t head_dim);

}  // namespace rung
