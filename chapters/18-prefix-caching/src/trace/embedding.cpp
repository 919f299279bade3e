// The first step: token ids become rows of the residual stream.
#include "ops/embedding.h"
#include "trace/trace.h"

namespace rung {

namespace {

class EmbeddingStep : public TraceStep {
 public:
  const char* name() const override { return "embedding"; }
  const char* summary() const override { return "each token's row of the embedding table"; }
  int position() const override { return 0; }
  void run(Cpu& device, TraceState& state) override { run_on(device, state); }
  void run(Cuda& device, TraceState& state) override { run_on(device, state); }

 private:
  template <class Device>
  static void run_on(Device& device, TraceState& state) {
    const Hyperparameters& h = state.hyperparameters();
    const Tensor table = state.stored(device, "token_embd.weight", {h.vocabulary, h.hidden});
    Tensor residual = empty(device, DType::f32, {state.tokens(), h.hidden});
    embedding(device, residual, table, state.device_ids);
    state.set("residual", residual);
    state.show(device, "residual", residual,
               "rows of token_embd.weight " + table.shape().text() + " " + rung::name(table.dtype()));
  }
};

RUNG_TRACE(EmbeddingStep);

}  // namespace

}  // namespace rung
