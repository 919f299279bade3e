// The last step of the layer: the feed-forward block, between two additions to the residual stream.
#include "ops/add.h"
#include "ops/matmul.h"
#include "ops/rms_norm.h"
#include "ops/swiglu.h"
#include "rung/error.h"
#include "trace/trace.h"

namespace rung {

namespace {

class FeedForwardStep : public TraceStep {
 public:
  const char* name() const override { return "feed_forward"; }
  const char* summary() const override { return "gate, up and down: the layer's second half"; }
  int position() const override { return 50; }
  void run(Cpu& device, TraceState& state) override { run_on(device, state); }
  void run(Cuda& device, TraceState& state) override { run_on(device, state); }

 private:
  template <class Device>
  static void run_on(Device& device, TraceState& state) {
    const Hyperparameters& h = state.hyperparameters();
    const Shape narrow = {state.tokens(), h.hidden}, wide = {state.tokens(), h.feed_forward};
    Tensor residual = state.get("residual");
    Tensor normed = empty(device, DType::f32, narrow), gate = empty(device, DType::f32, wide),
           up = empty(device, DType::f32, wide), output = empty(device, DType::f32, narrow);
    // BEGIN SOLUTION 10.3
    add_rms_norm(device, normed, residual, state.get("attention_output"),
                 state.expanded(device, "blk.0.ffn_norm.weight", {h.hidden}), h.rms_epsilon);
    state.show(device, "residual", residual, "attention's output added");
    state.show(device, "normed", normed, "normalized with blk.0.ffn_norm.weight");

    matmul(device, gate, normed, state.matrix(device, "blk.0.ffn_gate.weight", {h.feed_forward, h.hidden}));
    matmul(device, up, normed, state.matrix(device, "blk.0.ffn_up.weight", {h.feed_forward, h.hidden}));
    state.show(device, "gate", gate);
    state.show(device, "up", up);
    swiglu(device, gate, gate, up);
    state.show(device, "gated", gate, "silu(gate) * up");

    matmul(device, output, gate, state.matrix(device, "blk.0.ffn_down.weight", {h.hidden, h.feed_forward}));
    state.show(device, "feed_forward_output", output);
    add(device, residual, output);
    state.set("feed_forward_output", output);
    state.show(device, "residual", residual, "added: what layer 1 will read");
    // STUB: not_done("10.3");
    // END SOLUTION
  }
};

RUNG_TRACE(FeedForwardStep);

}  // namespace

}  // namespace rung
