#include "cache/kv_cache.h"

#include <algorithm>

#include "rung/error.h"
#include "tensor/device_tensor.h"

namespace rung {

int64_t kv_cache_bytes(const Hyperparameters& h, int64_t context, DType dtype) {
  return 2 * h.layers * context * static_cast<int64_t>(row_bytes(dtype, static_cast<size_t>(h.kv_width())));
}

template <class Device>
KvCache::KvCache(Device& device, const Hyperparameters& h, int64_t context, DType dtype) : context_(context) {
  if (context < 1 || context > h.context_length) {
    fail("a context of ", context, " tokens: this model was made for 1 to ", h.context_length);
  }
  for (int layer = 0; layer < h.layers; ++layer) {
    keys_.push_back(empty(device, dtype, {context, h.kv_heads, h.head_dim}));
    values_.push_back(empty(device, dtype, {context, h.kv_heads, h.head_dim}));
  }
}

template KvCache::KvCache(Cpu&, const Hyperparameters&, int64_t, DType);
template KvCache::KvCache(Cuda&, const Hyperparameters&, int64_t, DType);

size_t KvCache::bytes() const {
  return 2 * keys_.size() * keys_[0].bytes();
}

void KvCache::append(const std::vector<int32_t>& ids) {
  if (static_cast<int64_t>(ids.size()) > context_ - length()) {
    fail("the KV cache holds ", length(), " tokens and has space for ", context_, ": ", ids.size(),
         " more do not fit");
  }
  ids_.insert(ids_.end(), ids.begin(), ids.end());
}

void KvCache::truncate(int64_t length) {
  ids_.resize(static_cast<size_t>(std::clamp<int64_t>(length, 0, this->length())));
}

int64_t KvCache::keep_common_prefix(const std::vector<int32_t>& ids) {
  const size_t most = std::min(ids.size(), ids_.size());
  truncate(std::mismatch(ids.begin(), ids.begin() + static_cast<int64_t>(most), ids_.begin()).first -
           ids.begin());
  return length();
}

}  // namespace rung
