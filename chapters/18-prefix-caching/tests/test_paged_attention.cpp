// Keys in blocks of any size, in any order, give the bits of keys that stand in a row.
#include <algorithm>
#include <numeric>
#include <random>

#include "ops/sequence_attention.h"
#include "ops/sequence_attention_kernels.h"
#include "ops/store_kv.h"
#include "testing/catch.h"
#include "tests/devices.h"
#include "tests/stored_weights.h"

using namespace rung;
using namespace rung::testing;

namespace {

// Two prompts, one of them going on from cached tokens, and two requests that decode.
const std::vector<int32_t> kQueries = {70, 1, 5, 1}, kContext = {70, 130, 66, 1};
constexpr int64_t kHeads = 4, kKvHeads = 2, kHeadDim = 64;

int64_t blocks_of(int32_t context, int64_t block_size) {
  return (context + block_size - 1) / block_size;
}

// The sequences' blocks, dealt out at random among `spare` others; NaN in all rows that no key has.
struct Paged {
  int64_t block_size;
  std::vector<int32_t> query_begin = {0}, first_block, block_table;
  Tensor k, v;

  Paged(int64_t size, DType dtype, bool shuffled) : block_size(size) {
    int64_t blocks = 0;
    for (size_t s = 0; s < kContext.size(); ++s) {
      query_begin.push_back(query_begin.back() + kQueries[s]);
      first_block.push_back(static_cast<int32_t>(blocks));
      blocks += blocks_of(kContext[s], size);
    }
    constexpr int64_t kSpare = 3;
    std::vector<int32_t> pool(static_cast<size_t>(blocks + kSpare));
    std::iota(pool.begin(), pool.end(), 0);
    std::mt19937 random(5);
    if (shuffled) std::shuffle(pool.begin(), pool.end(), random);
    block_table.assign(pool.begin(), pool.begin() + blocks);
    k = stored(1, dtype), v = stored(2, dtype);
  }

  int64_t row(size_t s, int64_t key) const {
    const int64_t entry = first_block[s] + key / block_size;
    return block_table[static_cast<size_t>(entry)] * block_size + key % block_size;
  }

  // The same numbers for the same key of the same sequence, wherever it stands.
  Tensor stored(uint64_t seed, DType dtype) const {
    const int64_t blocks = static_cast<int64_t>(block_table.size()) + 3, width = kKvHeads * kHeadDim;
    Tensor cache = Tensor::host(dtype, {blocks * block_size, kKvHeads, kHeadDim});
    std::vector<float> rows(static_cast<size_t>(cache.elements()), NAN);
    for (size_t s = 0; s < kContext.size(); ++s) {
      const std::vector<float> keys = random_floats(static_cast<size_t>(kContext[s] * width), seed + 10 * s);
      for (int64_t j = 0; j < kContext[s]; ++j)
        std::copy_n(keys.begin() + j * width, width, rows.begin() + row(s, j) * width);
    }
    for (size_t i = 0; i < rows.size(); ++i) {
      if (dtype == DType::f32) {
        cache.data<float>()[i] = rows[i];
      } else {
        static_cast<uint16_t*>(cache.raw())[i] = f32_to_bf16(rows[i]);
      }
    }
    return cache;
  }

  template <class Device, class Run>
  Tensor run(Device& device, Run kernel) const {
    const AttentionTiles tiles = attention_tiles(query_begin, kContext);
    const auto on_device = [&](const std::vector<int32_t>& values) {
      return upload(device, tensor_of(values));
    };
    GuardedOutput<Device> y(device, {query_begin.back(), kHeads, kHeadDim});
    const Tensor q = random_tensor({query_begin.back(), kHeads, kHeadDim}, 3);
    const AttentionSequences sequences = {on_device(query_begin),
                                          on_device(kContext),
                                          on_device(first_block),
                                          query_begin,
                                          kContext,
                                          first_block,
                                          on_device(tiles.query_begin),
                                          on_device(tiles.key_begin),
                                          tiles.query_begin.back(),
                                          tiles.key_begin.back(),
                                          on_device(block_table),
                                          block_table,
                                          block_size};
    kernel(device, y.tensor, upload(device, q), upload(device, k), upload(device, v), sequences);
    return y.values();
  }
};

const auto kAttention = [](auto& device, Tensor& y, const Tensor& q, const Tensor& k, const Tensor& v,
                           const AttentionSequences& s) { attention(device, y, q, k, v, s); };

}  // namespace

TEMPLATE_TEST_CASE("paged attention: blocks of any size in any order give the same bits", "", Cpu, Cuda) {
  TestType& device = the_device<TestType>();
  for (const DType dtype : {DType::f32, DType::bf16}) {
    const Tensor in_a_row = Paged(256, dtype, false).run(device, kAttention);
    for (const int64_t block_size : {1, 4, 16, 64, 128}) {
      INFO("blocks of " << block_size << ", " << name(dtype));
      CHECK(compare_bits(floats(Paged(block_size, dtype, true).run(device, kAttention)), floats(in_a_row)) ==
            "");
    }
  }
}

TEST_CASE("paged attention: tensor cores read blocks") {
  const auto kernels = [](Cuda& device, Tensor& y, const Tensor& q, const Tensor& k, const Tensor& v,
                          const AttentionSequences& s) {
    attention_prefill_tensor_cores(device, y, q, k, v, s);
    attention_decode_split(device, y, q, k, v, s);
  };
  Cuda& device = the_device<Cuda>();
  CHECK(compare_bits(floats(Paged(16, DType::bf16, true).run(device, kernels)),
                     floats(Paged(256, DType::bf16, false).run(device, kernels))) == "");
}

TEST_CASE("paged attention: blocks that are not there are refused") {
  Cpu& device = the_device<Cpu>();
  Paged paged(16, DType::f32, true);
  const auto with = [&](size_t entry, int32_t block) {
    Paged changed = paged;
    changed.block_table[entry] = block;
    return changed;
  };
  CHECK_THROWS_WITH(with(2, 100).run(device, kAttention), Catch::Contains("sequence 0 reads block 100"));
  CHECK_THROWS_WITH(with(5, -1).run(device, kAttention), Catch::Contains("sequence 1 reads block -1"));
  paged.block_table.pop_back();
  CHECK_THROWS_WITH(paged.run(device, kAttention), Catch::Contains("sequence 3 has 1 keys"));
  paged.block_size = 12;
  CHECK_THROWS_WITH(paged.run(device, kAttention), Catch::Contains("12 rows, expected a power of two"));
}
