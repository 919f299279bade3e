// The second step: the residual stream normalized before attention.
#include "ops/rms_norm.h"
#include "trace/trace.h"

namespace rung {

namespace {

class RmsNormStep : public TraceStep {
 public:
  const char* name() const override { return "rms_norm"; }
  const char* summary() const override {
    return "every row scaled to a root mean square of 1, times a weight";
  }
  int position() const override { return 10; }
  void run(Cpu& device, TraceState& state) override { run_on(device, state); }
  void run(Cuda& device, TraceState& state) override { run_on(device, state); }

 private:
  template <class Device>
  static void run_on(Device& device, TraceState& state) {
    const Hyperparameters& h = state.hyperparameters();
    const Tensor residual = state.get("residual");
    const Tensor weight = state.expanded(device, "blk.0.attn_norm.weight", {h.hidden});
    Tensor normed = empty(device, DType::f32, residual.shape());
    rms_norm(device, normed, residual, weight, h.rms_epsilon);
    state.set("normed", normed);
    state.show(device, "residual", residual, "as the embedding left it");
    state.show(device, "normed", normed,
               "divided by its rms, times blk.0.attn_norm.weight [" + std::to_string(h.hidden) + "]");
  }
};

RUNG_TRACE(RmsNormStep);

}  // namespace

}  // namespace rung
