// The flags --context, --kv-type, --kv-memory and --block-size.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "cache/kv_cache.h"
#include "model/transformer.h"
#include "rung/command_line.h"

namespace rung {

struct CacheOption {
  int64_t context = 0, kv_memory = 0, block_size = kBlockSize;
  std::string kv_type = "auto";

  void add(CommandLine& line);

  // The context to make a cache for: --context, or else as much as `wanted` tokens need, at least `least`, at
  // most the model's.
  int64_t resolve(const Hyperparameters& h, int64_t wanted = 0, int64_t least = 2048) const;
  DType type(DType best) const;  // best: Transformer::kv_type()

  // Makes a cache with the blocks of `rows` sequences of `context` tokens, as resolve() gives them, fewer if
  // memory is short, or as many as --kv-memory holds; and says on stderr what memory it takes.
  template <class Device>
  KvCache make(Transformer<Device>& transformer, int64_t context, int64_t rows = 1) const {
    const Hyperparameters& h = transformer.hyperparameters();
    const DType dtype = type(transformer.kv_type());
    const KvBlocks wanted = blocks_for(rows, context, block_size);
    const auto block_bytes = static_cast<uint64_t>(kv_cache_bytes(h, block_size, dtype));
    const uint64_t weights = transformer.unread_weight_bytes();
    const uint64_t available = available_memory(transformer.device());
    // A context that was asked for by name has to fit once. How often it does is a matter of memory.
    const int64_t least = this->context > 0 ? blocks_for(1, context, block_size).count : 1;
    const KvBlocks blocks = fit(wanted, least, block_bytes, available - std::min(available, weights));
    check_memory(transformer.device(),
                 "KV cache of " + std::to_string(blocks.count) + " blocks of " + std::to_string(blocks.size) +
                     " tokens (--context, --kv-memory), beside the weights",
                 static_cast<uint64_t>(blocks.count) * block_bytes + weights);
    KvCache cache(transformer.device(), h, context, dtype, blocks);
    report(cache);
    return cache;
  }

 private:
  // wanted, or what is possible of it, at least `least` blocks; block_bytes: of all layers.
  KvBlocks fit(KvBlocks wanted, int64_t least, uint64_t block_bytes, uint64_t available) const;
  static void report(const KvCache& cache);
};

// Tokens of one prefill pass: enough that a weight is read once for many of them, few enough that the
// activations stay small.
constexpr int64_t kPrefillTokens = 512;

}  // namespace rung
