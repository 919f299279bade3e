// The sizes of an attention call over several sequences, checked in one place for every device.
#pragma once

#include "ops/sequence_attention.h"

namespace rung {

// constexpr members also run in kernels.
struct SequenceAttentionShape {
  int64_t tokens, sequences, heads, kv_heads, head_dim;
  // Query heads that share a key/value head. In 32 bits: 64-bit divisions are slow on a GPU.
  constexpr int group() const { return static_cast<int>(heads) / static_cast<int>(kv_heads); }
  constexpr int64_t query_stride() const { return heads * head_dim; }  // elements between tokens of q and y
  constexpr int64_t kv_stride() const { return kv_heads * head_dim; }  // elements between rows of k and v
  float scale() const;                                                 // 1 / sqrt(head_dim)
};

// Throws Error naming what does not fit unless the operands of attention() agree, lie in that place, and no
// sequence reaches over the last row of k.
SequenceAttentionShape check_attention(const Tensor& y, const Tensor& q, const Tensor& k, const Tensor& v,
                                       const AttentionSequences& sequences, Place place);

}  // namespace rung
