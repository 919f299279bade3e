// The embedding's kernels side by side, for a table of plain numbers and one of quantized blocks.
#include "ops/embedding.h"

#include "ops/embedding_kernels.h"
#include "rung/bench.h"
#include "tensor/device_tensor.h"

namespace rung {

namespace {

class EmbeddingBench : public BenchPart {
 public:
  const char* name() const override { return "embedding"; }
  const char* summary() const override {
    return "Rows of an embedding table, by kernel and by type of the table";
  }

  void run(Bench& bench, Cpu& device) override {
    for (const DType dtype : {DType::f32, DType::f16, DType::q4_1}) {
      const Case c = make(device, dtype, 512, 576);
      Tensor y = c.y;
      bench.measure(device, "one row a task", c.shape, c.work, [&] { embedding(device, y, c.table, c.ids); });
    }
  }

  void run(Bench& bench, Cuda& device) override {
    const int64_t tokens = kCudaEmulated ? 64 : 4096, hidden = kCudaEmulated ? 576 : 4096;
    for (const DType dtype : {DType::f32, DType::f16, DType::q4_1}) {
      const Case c = make(device, dtype, tokens, hidden);
      Tensor y = c.y;
      bench.measure(device, "one thread an element", c.shape, c.work,
                    [&] { embedding_one_element(device, y, c.table, c.ids); });
      bench.measure(device, "four elements a thread", c.shape, c.work,
                    [&] { embedding_four_elements(device, y, c.table, c.ids); });
    }
  }

 private:
  struct Case {
    Tensor table, ids, y;
    std::string shape;
    Work work;
  };

  // A table with four rows for each token, so that no two tokens share one.
  template <class Device>
  static Case make(Device& device, DType dtype, int64_t tokens, int64_t hidden) {
    const Tensor table = Tensor::host(dtype, {4 * tokens, hidden});
    Tensor ids = Tensor::host(DType::i32, {tokens});
    for (int64_t i = 0; i < tokens; ++i) {
      ids.data<int32_t>()[i] = static_cast<int32_t>(i * 7919 % tokens * 4);
    }
    Case c{upload(device, table), upload(device, ids), empty(device, DType::f32, {tokens, hidden}), "", {}};
    c.shape = std::to_string(tokens) + " x " + std::to_string(hidden) + " " + rung::name(dtype);
    const double read =
        static_cast<double>(row_bytes(dtype, static_cast<size_t>(hidden))) * static_cast<double>(tokens);
    c.work.bytes = read + static_cast<double>(c.y.bytes() + ids.bytes());
    return c;
  }
};

RUNG_BENCH(EmbeddingBench);

}  // namespace

}  // namespace rung
