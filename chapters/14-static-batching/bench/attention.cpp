// Attention over short and long contexts, for one query and for many; by kernel on CUDA.
#include "ops/attention.h"

#include "ops/attention_kernels.h"
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
      Operands o(device, DType::f32, s.tokens, s.context, 9, 3);
      bench.measure(device, "9 heads on 3", o.shape, o.work, [&] { attention(device, o.y, o.q, o.k, o.v); });
    }
  }

  void run(Bench& bench, Cuda& device) override {
    const int64_t context = kCudaEmulated ? 64 : 2048, many = kCudaEmulated ? 4 : 2048;
    const int64_t heads = kCudaEmulated ? 4 : 32, kv_heads = kCudaEmulated ? 1 : 8;
    for (const DType dtype : {DType::f32, DType::bf16}) {
      const std::string type = std::string(", ") + rung::name(dtype);
      for (const int64_t tokens : {int64_t{1}, many}) {
        Operands o(device, dtype, tokens, context, heads, kv_heads);
        bench.measure(device, "three kernels" + type, o.shape, o.work,
                      [&] { attention_three_kernels(device, o.y, o.q, o.k, o.v); });
        bench.measure(device, "fused" + type, o.shape, o.work,
                      [&] { attention_fused(device, o.y, o.q, o.k, o.v); });
        bench.measure(device, "cuBLAS and softmax" + type, o.shape, o.work,
                      [&] { attention_cublas(device, o.y, o.q, o.k, o.v); });
      }
    }
  }

 private:
  struct Operands {
    template <class Device>
    Operands(Device& device, DType dtype, int64_t tokens, int64_t context, int64_t heads, int64_t kv_heads)
        : q(upload(device, Tensor::host(DType::f32, {tokens, heads, kHeadDim}))),
          k(upload(device, Tensor::host(dtype, {context, kv_heads, kHeadDim}))),
          v(upload(device, Tensor::host(dtype, {context, kv_heads, kHeadDim}))),
          y(empty(device, DType::f32, {tokens, heads, kHeadDim})),
          shape(std::to_string(tokens) + " of " + std::to_string(context)) {
      work.bytes = static_cast<double>(q.bytes() + k.bytes() + v.bytes() + y.bytes());
      // Two products of head_dim terms for every pair of a query and a key that it sees.
      const double pairs = static_cast<double>(tokens) *
                           (static_cast<double>(context) - 0.5 * static_cast<double>(tokens - 1));
      work.flops = 4.0 * static_cast<double>(heads * kHeadDim) * pairs;
      if (dtype == DType::bf16) work.arithmetic = Arithmetic::bf16;
    }

    static constexpr int64_t kHeadDim = 64;
    Tensor q, k, v, y;
    std::string shape;
    Work work;
  };
};

RUNG_BENCH(AttentionBench);

}  // namespace

}  // namespace rung
