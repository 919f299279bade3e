// Keys and values of every token that a sequence has been through, so that a token is computed once and not
// again for each token after it.
#pragma once

#include <cstdint>
#include <vector>

#include "model_file/hyperparameters.h"
#include "rung/device.h"
#include "tensor/tensor.h"

namespace rung {

// Bytes that a cache for `context` tokens takes: 2 (keys and values) * layers * kv_heads * head_dim * bytes
// of the type each.
int64_t kv_cache_bytes(const Hyperparameters& h, int64_t context, DType dtype);

// The cache of one sequence. Row p of a layer's keys and values belongs to the token at position p.
class KvCache {
 public:
  // Space for `context` tokens, kept as f32, f16 or bf16. Throws Error if context is not in [1, the model's
  // context length].
  template <class Device>
  KvCache(Device& device, const Hyperparameters& h, int64_t context, DType dtype);

  int64_t context() const { return context_; }
  int64_t length() const { return static_cast<int64_t>(ids_.size()); }  // tokens stored
  const std::vector<int32_t>& ids() const { return ids_; }              // those tokens
  size_t bytes() const;

  // [context, kv_heads, head_dim] each.
  const Tensor& keys(int layer) const { return keys_[static_cast<size_t>(layer)]; }
  const Tensor& values(int layer) const { return values_[static_cast<size_t>(layer)]; }

  // Notes that the next tokens' keys and values have been written. Throws Error if there is no space for
  // them.
  void append(const std::vector<int32_t>& ids);
  // Forgets all but the first `length` tokens. (Their rows stay in memory and are overwritten.)
  void truncate(int64_t length);
  // Forgets what does not agree with the beginning of `ids` and returns how many of them are stored then.
  int64_t keep_common_prefix(const std::vector<int32_t>& ids);

 private:
  int64_t context_;
  std::vector<Tensor> keys_, values_;
  std::vector<int32_t> ids_;
};

}  // namespace rung
