// The fourth step: Q and K turned by their positions.
#include "ops/rope.h"
#include "ops/rms_norm.h"
#include "trace/trace.h"

namespace rung {

namespace {

class RopeStep : public TraceStep {
 public:
  const char* name() const override { return "rope"; }
  const char* summary() const override { return "each head of Q and K turned by its position"; }
  int position() const override { return 30; }
  void run(Cpu& device, TraceState& state) override { run_on(device, state); }
  void run(Cuda& device, TraceState& state) override { run_on(device, state); }

 private:
  template <class Device>
  static void run_on(Device& device, TraceState& state) {
    const Hyperparameters& h = state.hyperparameters();
    const Tensor frequencies = upload(device, rope_inverse_frequencies(h.rope));
    turn(device, state, "q", h.heads, frequencies);
    turn(device, state, "k", h.kv_heads, frequencies);
  }

  template <class Device>
  static void turn(Device& device, TraceState& state, const std::string& name, int heads,
                   const Tensor& frequencies) {
    const Hyperparameters& h = state.hyperparameters();
    Tensor x = state.get(name);
    std::string before = "before its turn";
    if (h.qk_norm) {
      const Tensor weight = state.expanded(device, "blk.0.attn_" + name + "_norm.weight", {h.head_dim});
      Tensor rows = x.reshaped({state.tokens() * heads, h.head_dim});
      rms_norm(device, rows, rows, weight, h.rms_epsilon);
      before += ", each head normalized, as qwen3 does first";
    }
    state.show(device, name, x, before);
    Tensor view = x.reshaped({state.tokens(), heads, h.head_dim});
    rope(device, view, state.device_positions, frequencies, h.rope.pairing);
    state.show(
        device, name, view,
        std::to_string(frequencies.elements()) +
            (h.rope.pairing == RopePairing::interleaved ? " pairs of neighbours" : " pairs of halves") +
            " a head, base " + std::to_string(static_cast<int64_t>(h.rope.base)));
  }
};

RUNG_TRACE(RopeStep);

}  // namespace

}  // namespace rung
