#include "cache/kv_cache.h"

#include <algorithm>
#include <limits>

#include "rung/error.h"
#include "tensor/device_tensor.h"

namespace rung {

int64_t kv_cache_bytes(const Hyperparameters& h, int64_t tokens, DType dtype) {
  return 2 * h.layers * tokens * static_cast<int64_t>(row_bytes(dtype, static_cast<size_t>(h.kv_width())));
}

KvBlocks blocks_for(int64_t rows, int64_t context, int64_t block_size) {
  return {rows * ((context + block_size - 1) / block_size), block_size};
}

template <class Device>
KvCache::KvCache(Device& device, const Hyperparameters& h, int64_t context, DType dtype, KvBlocks blocks)
    : blocks_(blocks) {
  if (context < 1 || context > h.context_length) {
    fail("a context of ", context, " tokens: this model was made for 1 to ", h.context_length);
  }
  if (blocks.size < 1 || (blocks.size & (blocks.size - 1)) != 0) {
    fail("blocks of ", blocks.size, " tokens: expected a power of two");
  }
  const int64_t most = std::numeric_limits<int32_t>::max() / blocks.size;
  if (blocks.count < 1 || blocks.count > most) {
    fail("a KV cache of ", blocks.count, " blocks of ", blocks.size, " tokens: expected 1 to ", most,
         " blocks");
  }
  context_ = std::min(context, slots());
  for (int layer = 0; layer < h.layers; ++layer) {
    keys_.push_back(empty(device, dtype, {slots(), h.kv_heads, h.head_dim}));
    values_.push_back(empty(device, dtype, {slots(), h.kv_heads, h.head_dim}));
  }
}

template KvCache::KvCache(Cpu&, const Hyperparameters&, int64_t, DType, KvBlocks);
template KvCache::KvCache(Cuda&, const Hyperparameters&, int64_t, DType, KvBlocks);

size_t KvCache::bytes() const {
  return 2 * keys_.size() * keys_[0].bytes();
}

template <class Device>
void KvCache::copy_block(Device& device, int32_t from, int32_t to) {
  for (const std::vector<Tensor>* layers : {&keys_, &values_}) {
    for (const Tensor& layer : *layers) {
      Tensor destination = layer.slice(to * block_size(), block_size());
      copy(device, destination, layer.slice(from * block_size(), block_size()));
    }
  }
}

template void KvCache::copy_block(Cpu&, int32_t, int32_t);
template void KvCache::copy_block(Cuda&, int32_t, int32_t);

}  // namespace rung
