#include "cache/kv_cache.h"

#include <limits>

#include "rung/error.h"
#include "tensor/device_tensor.h"

namespace rung {

int64_t kv_cache_bytes(const Hyperparameters& h, int64_t tokens, DType dtype) {
  return 2 * h.layers * tokens * static_cast<int64_t>(row_bytes(dtype, static_cast<size_t>(h.kv_width())));
}

template <class Device>
KvCache::KvCache(Device& device, const Hyperparameters& h, int64_t context, DType dtype, int64_t rows)
    : rows_(rows), context_(context) {
  if (context < 1 || context > h.context_length) {
    fail("a context of ", context, " tokens: this model was made for 1 to ", h.context_length);
  }
  if (rows < 1 || rows > std::numeric_limits<int32_t>::max() / context) {
    fail("a KV cache for ", rows, " sequences of ", context, " tokens: expected 1 to ",
         std::numeric_limits<int32_t>::max() / context, " sequences");
  }
  for (int layer = 0; layer < h.layers; ++layer) {
    keys_.push_back(empty(device, dtype, {rows * context, h.kv_heads, h.head_dim}));
    values_.push_back(empty(device, dtype, {rows * context, h.kv_heads, h.head_dim}));
  }
}

template KvCache::KvCache(Cpu&, const Hyperparameters&, int64_t, DType, int64_t);
template KvCache::KvCache(Cuda&, const Hyperparameters&, int64_t, DType, int64_t);

size_t KvCache::bytes() const {
  return 2 * keys_.size() * keys_[0].bytes();
}

}  // namespace rung
