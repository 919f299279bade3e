// Attention over short and long contexts, for one query and for many, alone and in a batch; by kernel on
// CUDA.
#include "ops/attention.h"

#include "ops/attention_kernels.h"
#include "ops/online_softmax.h"
#include "ops/sequence_attention.h"
#include "ops/sequence_attention_kernels.h"
#include "rung/bench.h"
#include "tensor/device_tensor.h"

namespace rung {

namespace {

class AttentionBench : public BenchPart {
 public:
  const char* name() const override { return "attention"; }
  const char* summary() const override { return "attention by kernel, for one query and for a whole prompt"; }

  void run(Bench& bench, Cpu& device) override {
    const struct { int64_t tokens, context; } sizes[] = {{1, 512}, {1, 2048}, {512, 512}};
    for (const auto& s : sizes) {
      Operands o(device, DType::f32, 1, s.tokens, s.context, 9, 3);
      bench.measure(device, "9 heads on 3, scalar", o.shape, o.work,
                    [&] { attention_one_pass(o.y, o.q, o.k, o.v); });
      bench.measure(device, "9 heads on 3", o.shape, o.work, [&] { attention(device, o.y, o.q, o.k, o.v); });
    }
    Operands o(device, DType::f32, 8, 1, 512, 9, 3);
    bench.measure(device, "9 heads on 3", o.shape, o.work,
                  [&] { attention(device, o.y, o.q, o.k, o.v, o.sequences); });
  }

  void run(Bench& bench, Cuda& device) override {
    const int64_t context = kCudaEmulated ? 64 : 2048, many = kCudaEmulated ? 4 : 2048;
    const int64_t heads = kCudaEmulated ? 4 : 32, kv_heads = kCudaEmulated ? 1 : 8;
    for (const DType dtype : {DType::f32, DType::bf16}) {
      const std::string type = std::string(", ") + rung::name(dtype);
      for (const int64_t tokens : {int64_t{1}, many}) {
        Operands o(device, dtype, 1, tokens, context, heads, kv_heads);
        bench.measure(device, "three kernels" + type, o.shape, o.work,
                      [&] { attention_three_kernels(device, o.y, o.q, o.k, o.v); });
        bench.measure(device, "fused" + type, o.shape, o.work,
                      [&] { attention_fused(device, o.y, o.q, o.k, o.v); });
        bench.measure(device, "cuBLAS and softmax" + type, o.shape, o.work,
                      [&] { attention_cublas(device, o.y, o.q, o.k, o.v); });
        tiles(bench, device, o, type);
      }
      const struct {
        int64_t sequences, tokens, context;
      } batches[] = {{8, many, context}, {64, 1, context / 8}, {64, 1, context}, {256, 1, context / 4}};
      for (const auto& b : batches) {
        Operands o(device, dtype, kCudaEmulated ? 2 : b.sequences, b.tokens, b.context, heads, kv_heads);
        tiles(bench, device, o, type);
      }
    }
  }

 private:
  struct Operands {
    template <class Device>
    Operands(Device& device, DType dtype, int64_t count, int64_t tokens, int64_t context, int64_t heads,
             int64_t kv_heads)
        : q(upload(device, Tensor::host(DType::f32, {count * tokens, heads, kHeadDim}))),
          k(upload(device, Tensor::host(dtype, {count * blocks(context) * kBlockSize, kv_heads, kHeadDim}))),
          v(upload(device, Tensor::host(dtype, {count * blocks(context) * kBlockSize, kv_heads, kHeadDim}))),
          y(empty(device, DType::f32, {count * tokens, heads, kHeadDim})),
          shape(std::to_string(tokens) + " of " + std::to_string(context)) {
      if (count > 1) shape = std::to_string(count) + " x " + shape;
      for (int64_t s = 0; s < count; ++s) {
        query_begin.push_back(static_cast<int32_t>((s + 1) * tokens));
        contexts.push_back(static_cast<int32_t>(context));
        first_block.push_back(static_cast<int32_t>(block_table.size()));
        // The sequences' blocks alternate.
        for (int64_t b = 0; b < blocks(context); ++b)
          block_table.push_back(static_cast<int32_t>(b * count + s));
      }
      const auto on_device = [&](std::vector<int32_t>& values) {
        return upload(device, Tensor(DType::i32, {static_cast<int64_t>(values.size())}, values.data()));
      };
      AttentionTiles tiles = attention_tiles(query_begin, contexts);
      tile_begins[0] = std::move(tiles.query_begin), tile_begins[1] = std::move(tiles.key_begin);
      sequences = {on_device(query_begin),
                   on_device(contexts),
                   on_device(first_block),
                   query_begin,
                   contexts,
                   first_block,
                   on_device(tile_begins[0]),
                   on_device(tile_begins[1]),
                   tile_begins[0].back(),
                   tile_begins[1].back(),
                   on_device(block_table),
                   block_table,
                   kBlockSize};
      work.bytes = static_cast<double>(q.bytes() + k.bytes() + v.bytes() + y.bytes());
      // Two products of head_dim terms for every pair of a query and a key that it sees.
      const double pairs = static_cast<double>(count * tokens) *
                           (static_cast<double>(context) - 0.5 * static_cast<double>(tokens - 1));
      work.flops = 4.0 * static_cast<double>(heads * kHeadDim) * pairs;
      if (dtype == DType::bf16) work.arithmetic = Arithmetic::bf16;
    }

    static constexpr int64_t kHeadDim = 64, kBlockSize = 16;
    static int64_t blocks(int64_t context) { return (context + kBlockSize - 1) / kBlockSize; }
    Tensor q, k, v, y;
    std::vector<int32_t> query_begin = {0}, contexts, first_block, block_table, tile_begins[2];
    AttentionSequences sequences;
    std::string shape;
    Work work;
  };

  static void tiles(Bench& bench, Cuda& device, Operands& o, const std::string& type) {
    if (o.sequences.query_tiles == 0) {
      bench.measure(device, "split" + type, o.shape, o.work,
                    [&] { attention_decode_split(device, o.y, o.q, o.k, o.v, o.sequences); });
      return;
    }
    bench.measure(device, "tiled" + type, o.shape, o.work,
                  [&] { attention_prefill_tiled(device, o.y, o.q, o.k, o.v, o.sequences); });
    if (!tensor_cores_fit(o.k)) return;
    bench.measure(device, "tensor cores" + type, o.shape, o.work,
                  [&] { attention_prefill_tensor_cores(device, o.y, o.q, o.k, o.v, o.sequences); });
  }
};

RUNG_BENCH(AttentionBench);

}  // namespace

}  // namespace rung
