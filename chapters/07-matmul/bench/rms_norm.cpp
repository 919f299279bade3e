// The kernels of RMSNorm side by side, and the residual addition fused into it.
#include "ops/rms_norm.h"

#include "ops/rms_norm_kernels.h"
#include "rung/bench.h"
#include "tensor/device_tensor.h"

namespace rung {

namespace {

class RmsNormBench : public BenchPart {
 public:
  const char* name() const override { return "rms_norm"; }
  const char* summary() const override { return "RMSNorm by kernel, for one row and for many"; }

  void run(Bench& bench, Cpu& device) override {
    for (const int64_t rows : {1, 512}) {
      Operands o(device, rows, 576);
      bench.measure(device, "one row a task", o.shape, o.work(2),
                    [&] { rms_norm(device, o.y, o.x, o.weight, 1e-5f); });
      bench.measure(device, "with the addition", o.shape, o.work(4),
                    [&] { add_rms_norm(device, o.y, o.residual, o.x, o.weight, 1e-5f); });
    }
  }

  void run(Bench& bench, Cuda& device) override {
    const int64_t many = kCudaEmulated ? 64 : 4096, columns = kCudaEmulated ? 576 : 4096;
    for (const int64_t rows : {int64_t{1}, many}) {
      Operands o(device, rows, columns);
      const Work work = o.work(2);
      bench.measure(device, "one thread a row", o.shape, work,
                    [&] { rms_norm_one_thread(device, o.y, o.x, o.weight, 1e-5f); });
      bench.measure(device, "shared-memory tree", o.shape, work,
                    [&] { rms_norm_shared_tree(device, o.y, o.x, o.weight, 1e-5f); });
      bench.measure(device, "warp shuffles", o.shape, work,
                    [&] { rms_norm_warp_shuffles(device, o.y, o.x, o.weight, 1e-5f); });
      bench.measure(device, "vectors of four", o.shape, work,
                    [&] { rms_norm_vectors(device, o.y, o.x, o.weight, 1e-5f); });
      bench.measure(device, "with the addition", o.shape, o.work(4),
                    [&] { add_rms_norm(device, o.y, o.residual, o.x, o.weight, 1e-5f); });
    }
  }

 private:
  struct Operands {
    template <class Device>
    Operands(Device& device, int64_t rows, int64_t columns)
        : x(upload(device, Tensor::host(DType::f32, {rows, columns}))),
          residual(upload(device, Tensor::host(DType::f32, {rows, columns}))),
          y(empty(device, DType::f32, {rows, columns})),
          weight(upload(device, Tensor::host(DType::f32, {columns}))),
          shape(std::to_string(rows) + " x " + std::to_string(columns)) {}

    // passes: how many arrays of x's size are read or written.
    Work work(int passes) const {
      Work work;
      work.bytes = passes * static_cast<double>(x.bytes()) + static_cast<double>(weight.bytes());
      return work;
    }

    Tensor x, residual, y, weight;
    std::string shape;
  };
};

RUNG_BENCH(RmsNormBench);

}  // namespace

}  // namespace rung
