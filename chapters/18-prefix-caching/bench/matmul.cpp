// Matrix products: the types a weight may be stored in on the CPU, the ladder of kernels on CUDA.
#include "ops/matmul.h"

#include <cstring>

#include "ops/matmul_kernels.h"
#include "rung/bench.h"
#include "tensor/device_tensor.h"

namespace rung {

namespace {

class MatmulBench : public BenchPart {
 public:
  const char* name() const override { return "matmul"; }
  const char* summary() const override {
    return "matrix products by stored type (CPU) and by kernel (CUDA), for one row and many";
  }

  void run(Bench& bench, Cpu& device) override {
    for (const int64_t rows : {1, 512}) {
      for (const DType dtype : {DType::f32, DType::f16, DType::bf16, DType::q8_0, DType::q4_0, DType::q4_1,
                                DType::q5_0, DType::q5_1, DType::q4_k, DType::q5_k, DType::q6_k}) {
        // K formats come in rows of 256.
        const int64_t in = info(dtype).block_elements == 256 ? 512 : 576;
        Operands o(device, dtype, rows, 1536, in);
        bench.measure(device, rung::name(dtype), o.shape, o.work(),
                      [&] { matmul(device, o.y, o.x, o.weight); });
      }
    }
  }

  void run(Bench& bench, Cuda& device) override {
    const int64_t many = kCudaEmulated ? 16 : 2048, in = kCudaEmulated ? 128 : 2048,
                  out = kCudaEmulated ? 96 : 8192;
    for (const DType dtype : {DType::f32, DType::bf16}) {
      const std::string type = std::string(", ") + rung::name(dtype);
      for (const int64_t rows : {int64_t{1}, int64_t{8}, int64_t{kCudaEmulated ? 9 : 64}, many}) {
        Operands o(device, dtype, rows, out, in);
        bench.measure(device, "one thread an output" + type, o.shape, o.work(),
                      [&] { matmul_naive(device, o.y, o.x, o.weight); });
        bench.measure(device, "shared-memory tiles" + type, o.shape, o.work(),
                      [&] { matmul_tiled(device, o.y, o.x, o.weight); });
        if (rows <= kGemvRows) {
          bench.measure(device, "warp a row" + type, o.shape, o.work(),
                        [&] { matmul_gemv(device, o.y, o.x, o.weight); });
        }
        bench.measure(device, "cuBLAS" + type, o.shape, o.work(),
                      [&] { matmul_cublas(device, o.y, o.x, o.weight); });
        bench.measure(device, "one order of sums" + type, o.shape, o.work(),
                      [&] { matmul_invariant(device, o.y, o.x, o.weight); });
      }
    }
  }

 private:
  struct Operands {
    template <class Device>
    Operands(Device& device, DType dtype, int64_t rows, int64_t out, int64_t in)
        : x(upload(device, Tensor::host(DType::f32, {rows, in}))),
          y(empty(device, DType::f32, {rows, out})),
          shape(std::to_string(rows) + " x " + std::to_string(out) + " x " + std::to_string(in)) {
      // Small normal numbers in every type.
      Tensor host = Tensor::host(dtype, {out, in});
      std::memset(host.raw(), 0x11, host.bytes());
      weight = upload(device, host);
    }

    Work work() const {
      Work work;
      work.bytes = static_cast<double>(x.bytes() + y.bytes() + weight.bytes());
      work.flops = 2.0 * static_cast<double>(y.elements()) * static_cast<double>(x.shape()[1]);
      if (weight.dtype() == DType::f16) work.arithmetic = Arithmetic::f16;
      if (weight.dtype() == DType::bf16) work.arithmetic = Arithmetic::bf16;
      return work;
    }

    Tensor x, y, weight;
    std::string shape;
  };
};

RUNG_BENCH(MatmulBench);

}  // namespace

}  // namespace rung
