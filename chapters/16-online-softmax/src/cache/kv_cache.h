// Keys and values of the tokens that sequences have been through, so that a token is computed once and not
// again for each token after it.
#pragma once

#include <cstdint>
#include <vector>

#include "model_file/hyperparameters.h"
#include "rung/device.h"
#include "tensor/tensor.h"

namespace rung {

// Bytes that a cache for `tokens` tokens takes: 2 (keys and values) * layers * kv_heads * head_dim * bytes of
// the type each.
int64_t kv_cache_bytes(const Hyperparameters& h, int64_t tokens, DType dtype);

// Storage for `rows` sequences of up to `context` tokens each, one behind the other. Which tokens stand in it
// is the business of whoever fills it.
class KvCache {
 public:
  // Kept as f32, f16 or bf16. Throws Error if context is not in [1, the model's context length], or there is
  // no row, or more slots than 31 bits can number.
  template <class Device>
  KvCache(Device& device, const Hyperparameters& h, int64_t context, DType dtype, int64_t rows = 1);

  int64_t rows() const { return rows_; }
  int64_t context() const { return context_; }
  size_t bytes() const;

  // The slot of the token at that position of the sequence that has the row.
  int32_t slot(int64_t row, int64_t position) const {
    return static_cast<int32_t>(row * context_ + position);
  }

  // [rows * context, kv_heads, head_dim] each: one entry a slot.
  const Tensor& keys(int layer) const { return keys_[static_cast<size_t>(layer)]; }
  const Tensor& values(int layer) const { return values_[static_cast<size_t>(layer)]; }

 private:
  int64_t rows_, context_;
  std::vector<Tensor> keys_, values_;
};

}  // namespace rung
