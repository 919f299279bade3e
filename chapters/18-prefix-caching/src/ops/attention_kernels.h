// The versions of attention on CUDA, each callable by name so that tests and measurements can set them side
// by side. All take what attention() takes and give the same result but for rounding.
#pragma once

#include "rung/device.h"
#include "tensor/tensor.h"

namespace rung {

// Three kernels, one for each line of the formula: all scores, the softmax of each row, all weighted sums.
// The scores stand in the device's workspace, for as many queries at a time as fit in scratch_bytes (one at
// the least).
void attention_three_kernels(Cuda& device, Tensor& y, const Tensor& q, const Tensor& k, const Tensor& v,
                             size_t scratch_bytes = size_t{64} << 20);

// Each of the three for itself. scores and weights are [tokens, heads, context], the tokens the last ones of
// the context.
void attention_scores(Cuda& device, Tensor& scores, const Tensor& q, const Tensor& k);
void attention_softmax(Cuda& device, Tensor& scores);  // of each row, in place
void attention_weighted_sum(Cuda& device, Tensor& y, const Tensor& weights, const Tensor& v);

// One block of `threads` (a multiple of 32, at least head_dim) for each query and head, its scores in shared
// memory.
void attention_fused(Cuda& device, Tensor& y, const Tensor& q, const Tensor& k, const Tensor& v,
                     int threads = 256);
// Whether a row of scores of so long a context fits in a block's shared memory.
bool attention_fits_in_shared_memory(const Cuda& device, int64_t context, int64_t head_dim);

// Scores and weighted sums as matrix products by cuBLAS, `tokens_at_once` queries at a time, with the softmax
// kernel in between. For 16-bit k and v, queries and probabilities are rounded to their type, for tensor
// cores.
void attention_cublas(Cuda& device, Tensor& y, const Tensor& q, const Tensor& k, const Tensor& v,
                      int64_t tokens_at_once = 512);

}  // namespace rung
