// The flags --context and --kv-type.
#pragma once

#include <string>

#include "cache/kv_cache.h"
#include "model/transformer.h"
#include "rung/command_line.h"

namespace rung {

struct CacheOption {
  int64_t context = 0;
  std::string kv_type = "auto";

  void add(CommandLine& line);

  // The context to make a cache for: --context, or else as much as `wanted` tokens need, at least `least`, at
  // most the model's.
  int64_t resolve(const Hyperparameters& h, int64_t wanted = 0, int64_t least = 2048) const;
  DType type(DType best) const;  // best: Transformer::kv_type()

  // Makes a cache for `rows` sequences of `context` tokens, as resolve() gives them, and says on stderr what
  // memory it takes.
  template <class Device>
  KvCache make(Transformer<Device>& transformer, int64_t context, int64_t rows = 1) const {
    const Hyperparameters& h = transformer.hyperparameters();
    const DType dtype = type(transformer.kv_type());
    const auto bytes = static_cast<uint64_t>(kv_cache_bytes(h, rows * context, dtype));
    check_memory(transformer.device(),
                 "KV cache for " + (rows > 1 ? std::to_string(rows) + " times " : "") +
                     std::to_string(context) + " tokens (--context), beside the weights",
                 bytes + transformer.unread_weight_bytes());
    KvCache cache(transformer.device(), h, context, dtype, rows);
    report(cache);
    return cache;
  }

 private:
  static void report(const KvCache& cache);
};

// Tokens of one prefill pass: enough that a weight is read once for many of them, few enough that the
// activations stay small.
constexpr int64_t kPrefillTokens = 512;

}  // namespace rung
