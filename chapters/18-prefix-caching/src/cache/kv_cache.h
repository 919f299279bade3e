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

// A number of blocks, and the tokens of each.
struct KvBlocks {
  int64_t count, size;
};

// Tokens of a block unless somebody wants another number: few enough that a sequence's last block, half empty
// on average, wastes little; enough that a table of blocks stays short.
constexpr int64_t kBlockSize = 16;

// The blocks that `rows` sequences of `context` tokens each need.
KvBlocks blocks_for(int64_t rows, int64_t context, int64_t block_size = kBlockSize);

// A pool of blocks for the tokens of any sequences. All layers are cut in the same way, so that one table of
// blocks serves all of them. Which tokens stand in which block is the business of whoever fills it.
class KvCache {
 public:
  // Kept as f32, f16 or bf16; for sequences of up to `context` tokens, fewer if the pool holds fewer. Throws
  // Error if context is not in [1, the model's context length], block_size is not a power of two, or there is
  // no block, or more slots than 31 bits can number.
  template <class Device>
  KvCache(Device& device, const Hyperparameters& h, int64_t context, DType dtype, KvBlocks blocks);
  // As many blocks as `rows` sequences of that context need.
  template <class Device>
  KvCache(Device& device, const Hyperparameters& h, int64_t context, DType dtype, int64_t rows = 1)
      : KvCache(device, h, context, dtype, blocks_for(rows, context)) {}

  int64_t blocks() const { return blocks_.count; }
  int64_t block_size() const { return blocks_.size; }
  int64_t slots() const { return blocks_.count * blocks_.size; }
  int64_t context() const { return context_; }  // most tokens of a sequence
  size_t bytes() const;
  // Makes a block's keys and values, of all layers, those of another one too. Queued on the device's stream.
  template <class Device>
  void copy_block(Device& device, int32_t from, int32_t to);

  // [slots, kv_heads, head_dim] each: one entry a slot.
  const Tensor& keys(int layer) const { return keys_[static_cast<size_t>(layer)]; }
  const Tensor& values(int layer) const { return values_[static_cast<size_t>(layer)]; }

 private:
  KvBlocks blocks_;
  int64_t context_;
  std::vector<Tensor> keys_, values_;
};

}  // namespace rung
