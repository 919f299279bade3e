// Token embedding: row ids[i] of the table becomes row i of the residual stream.
//
//   y[i][c] = table[ids[i]][c]
#pragma once

#include "rung/device.h"
#include "tensor/tensor.h"

namespace rung {

// y     [tokens, hidden] f32
// table [vocabulary, hidden], any dtype (on Cuda: f32, f16, bf16, or block-quantized)
// ids   [tokens] i32, each in [0, vocabulary): check_token_ids() first where they come from outside
void embedding(Cpu& device, Tensor& y, const Tensor& table, const Tensor& ids);
void embedding(Cuda& device, Tensor& y, const Tensor& table, const Tensor& ids);

// Throws Error naming the first id of a host tensor outside [0, vocabulary), its index, and the vocabulary's
// size.
void check_token_ids(const Tensor& ids, int64_t vocabulary);

}  // namespace rung
