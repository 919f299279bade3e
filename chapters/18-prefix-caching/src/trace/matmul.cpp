// The third step: queries, keys and values, each a matrix product with the normalized rows.
#include "ops/matmul.h"

#include <type_traits>

#include "trace/trace.h"

namespace rung {

namespace {

class MatmulStep : public TraceStep {
 public:
  const char* name() const override { return "matmul"; }
  const char* summary() const override {
    return "queries, keys and values: three products with the normed rows";
  }
  int position() const override { return 20; }
  void run(Cpu& device, TraceState& state) override { run_on(device, state); }
  void run(Cuda& device, TraceState& state) override { run_on(device, state); }

 private:
  template <class Device>
  static void run_on(Device& device, TraceState& state) {
    const Hyperparameters& h = state.hyperparameters();
    const Tensor normed = state.get("normed");
    const struct {
      const char *name, *weight, *bias;
      int64_t width;
    } products[] = {{"q", "blk.0.attn_q.weight", "blk.0.attn_q.bias", h.query_width()},
                    {"k", "blk.0.attn_k.weight", "blk.0.attn_k.bias", h.kv_width()},
                    {"v", "blk.0.attn_v.weight", "blk.0.attn_v.bias", h.kv_width()}};
    for (const auto& product : products) {
      const Shape shape{product.width, h.hidden};
      // The CPU multiplies weights as they are stored; CUDA needs plain numbers.
      const Tensor weight = std::is_same_v<Device, Cpu> ? state.stored(device, product.weight, shape)
                                                        : state.expanded(device, product.weight, shape);
      const Tensor bias = h.qkv_bias ? state.expanded(device, product.bias, {product.width}) : Tensor();
      Tensor result = empty(device, DType::f32, {state.tokens(), product.width});
      matmul(device, result, normed, weight, bias);
      state.set(product.name, result);
      state.show(device, product.name, result,
                 std::string("normed times ") + product.weight + " " + weight.shape().text() + " " +
                     rung::name(state.model->tensor(product.weight, shape).dtype()) +
                     (bias.empty() ? "" : ", plus a bias"));
    }
  }
};

RUNG_TRACE(MatmulStep);

}  // namespace

}  // namespace rung
