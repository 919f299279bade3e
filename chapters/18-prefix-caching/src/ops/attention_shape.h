// The sizes of an attention call, checked in one place for every device.
#pragma once

#include "tensor/tensor.h"

namespace rung {

// constexpr members also run in kernels.
struct AttentionShape {
  int64_t tokens, context, heads, kv_heads, head_dim;
  constexpr int64_t group() const { return heads / kv_heads; }  // query heads that share a key/value head
  constexpr int64_t query_stride() const { return heads * head_dim; }  // elements between tokens of q and y
  constexpr int64_t kv_stride() const { return kv_heads * head_dim; }  // elements between tokens of k and v
  constexpr int64_t keys_of(int64_t token) const { return context - tokens + token + 1; }
  float scale() const;  // 1 / sqrt(head_dim)
};

// Throws Error naming what does not fit unless the operands of attention() agree and lie in that place. k and
// v may have any dtype; they must have the same one.
AttentionShape check_attention(const Tensor& y, const Tensor& q, const Tensor& k, const Tensor& v,
                               Place place);

}  // namespace rung
