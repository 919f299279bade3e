// SwiGLU in two passes over memory and in one, and the residual addition.
#include "ops/swiglu.h"

#include "ops/add.h"
#include "rung/bench.h"
#include "tensor/device_tensor.h"

namespace rung {

namespace {

class SwiGluBench : public BenchPart {
 public:
  const char* name() const override { return "swiglu"; }
  const char* summary() const override {
    return "SiLU and product apart and fused, and the residual addition";
  }

  void run(Bench& bench, Cpu& device) override { run_on(bench, device, 512, 1536); }
  void run(Bench& bench, Cuda& device) override {
    run_on(bench, device, kCudaEmulated ? 64 : 4096, kCudaEmulated ? 1536 : 14336);
  }

 private:
  template <class Device>
  static void run_on(Bench& bench, Device& device, int64_t rows, int64_t columns) {
    const Tensor zeros = Tensor::host(DType::f32, {rows, columns});
    const Tensor gate = upload(device, zeros), up = upload(device, zeros);
    Tensor gated = empty(device, DType::f32, zeros.shape()), y = empty(device, DType::f32, zeros.shape());
    const std::string shape = std::to_string(rows) + " x " + std::to_string(columns);
    // Both versions are given the bytes that the task needs: two inputs, one output.
    Work work;
    work.bytes = 3 * static_cast<double>(zeros.bytes());
    bench.measure(device, "silu, then multiply", shape, work, [&] {
      silu(device, gated, gate);
      multiply(device, y, gated, up);
    });
    bench.measure(device, "swiglu", shape, work, [&] { swiglu(device, y, gate, up); });
    bench.measure(device, "add", shape, work, [&] { add(device, y, gate); });
  }
};

RUNG_BENCH(SwiGluBench);

}  // namespace

}  // namespace rung
