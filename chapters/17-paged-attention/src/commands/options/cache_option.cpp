#include "commands/options/cache_option.h"

#include <algorithm>
#include <cstdint>
#include <iostream>

#include "rung/error.h"
#include "rung/table.h"

namespace rung {

void CacheOption::add(CommandLine& line) {
  line.option(
      "--context", context,
      "Most tokens of prompt and answer together; 0: what is needed, for a single prompt at least 2048");
  line.range(0, 1e9);
  line.option("--kv-type", kv_type,
              "How keys and values are kept; auto: f32 on the CPU, on CUDA the weights' 16-bit type");
  line.choices({"auto", "f32", "f16", "bf16"});
  line.option(
      "--kv-memory", kv_memory,
      "MiB for keys and values; 0: what all requests that run at once can need, as far as memory goes");
  line.range(0, 1e9);
  line.option("--block-size", block_size, "Tokens of a block of keys and values, a power of two");
  line.range(1, 65536);
}

int64_t CacheOption::resolve(const Hyperparameters& h, int64_t wanted, int64_t least) const {
  if (context > h.context_length) {
    fail("--context ", context, ": this model was made for at most ", h.context_length, " tokens");
  }
  return context > 0 ? context : std::min<int64_t>(h.context_length, std::max<int64_t>(wanted, least));
}

DType CacheOption::type(DType best) const {
  return kv_type == "f32"    ? DType::f32
         : kv_type == "f16"  ? DType::f16
         : kv_type == "bf16" ? DType::bf16
                             : best;
}

KvBlocks CacheOption::fit(KvBlocks wanted, int64_t least, uint64_t block_bytes, uint64_t available) const {
  if (kv_memory > 0) {
    const int64_t blocks = (kv_memory << 20) / static_cast<int64_t>(block_bytes);
    if (blocks == 0) {
      fail("--kv-memory ", kv_memory, ": one block of ", wanted.size, " tokens takes ",
           human_bytes(static_cast<double>(block_bytes)));
    }
    return {blocks, wanted.size};
  }
  const auto most = static_cast<int64_t>(std::min<uint64_t>(available / 10 * 9 / block_bytes, INT64_MAX));
  return {std::clamp(most, least, wanted.count), wanted.size};
}

void CacheOption::report(const KvCache& cache) {
  std::cerr << "rung: KV cache of " << cache.blocks() << (cache.blocks() == 1 ? " block of " : " blocks of ")
            << cache.block_size() << " tokens: " << human_bytes(static_cast<double>(cache.bytes())) << " ("
            << name(cache.keys(0).dtype()) << ")\n";
}

}  // namespace rung
