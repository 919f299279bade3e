#include "commands/options/cache_option.h"

#include <algorithm>
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

void CacheOption::report(const KvCache& cache) {
  std::cerr << "rung: KV cache for ";
  if (cache.rows() > 1) std::cerr << cache.rows() << " times ";
  std::cerr << cache.context() << " tokens: " << human_bytes(static_cast<double>(cache.bytes())) << " ("
            << name(cache.keys(0).dtype()) << ")\n";
}

}  // namespace rung
