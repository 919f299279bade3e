// Causal scaled dot-product attention (Vaswani et al. 2017, arXiv:1706.03762) with grouped query heads
// (Ainslie et al. 2023, arXiv:2305.13245): query head h reads key/value head h / (heads / kv_heads).
//
//   score[j] = q . k[j] / sqrt(head_dim)   for keys j at or before the query
//   y        = sum over j of softmax(score)[j] * v[j]
//
// The softmax subtracts the row's maximum first, so that no exponential overflows.
#pragma once

#include "rung/device.h"
#include "tensor/tensor.h"

namespace rung {

// y, q [tokens, heads, head_dim] f32
// k, v [context, kv_heads, head_dim], both f32, f16 or bf16 (the arithmetic is float32 all the same)
// context >= tokens; heads a multiple of kv_heads
// The queries are the last `tokens` of the context: query i sees keys 0 … context - tokens + i.
void attention(Cpu& device, Tensor& y, const Tensor& q, const Tensor& k, const Tensor& v);
void attention(Cuda& device, Tensor& y, const Tensor& q, const Tensor& k, const Tensor& v);

}  // namespace rung
