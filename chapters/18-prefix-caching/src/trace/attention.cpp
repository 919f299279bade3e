// The fifth step: attention, and which tokens the last one looks at.
#include "ops/attention.h"

#include <algorithm>
#include <iomanip>
#include <sstream>
#include <type_traits>

#include "ops/matmul.h"
#include "trace/trace.h"

namespace rung {

namespace {

constexpr int64_t kHeadsInNote = 4;

class AttentionStep : public TraceStep {
 public:
  const char* name() const override { return "attention"; }
  const char* summary() const override {
    return "each head's weighted mean of the values, and whom the last token looks at";
  }
  int position() const override { return 40; }
  void run(Cpu& device, TraceState& state) override { run_on(device, state); }
  void run(Cuda& device, TraceState& state) override { run_on(device, state); }

 private:
  template <class Device>
  static void run_on(Device& device, TraceState& state) {
    const Hyperparameters& h = state.hyperparameters();
    const int64_t tokens = state.tokens();
    const Tensor q = state.get("q").reshaped({tokens, h.heads, h.head_dim});
    const Tensor k = state.get("k").reshaped({tokens, h.kv_heads, h.head_dim});
    const Tensor v = state.get("v").reshaped({tokens, h.kv_heads, h.head_dim});
    const Tensor weights = weights_of_last(device, q, k);
    state.show(
        device, "weights", upload(device, weights),
        "of each token, one column a head, for the last token. Largest: " + favourites(state, weights));
    Tensor mixed = empty(device, DType::f32, q.shape());
    attention(device, mixed, q, k, v);
    const Tensor rows = mixed.reshaped({tokens, h.query_width()});
    state.set("attention", rows);
    state.show(device, "attention", rows,
               std::to_string(h.heads) + " heads of " + std::to_string(h.head_dim) + ", " +
                   std::to_string(h.heads / h.kv_heads) + " to each key/value head");

    const Shape shape{h.hidden, h.query_width()};
    const Tensor weight = std::is_same_v<Device, Cpu>
                              ? state.stored(device, "blk.0.attn_output.weight", shape)
                              : state.expanded(device, "blk.0.attn_output.weight", shape);
    Tensor output = empty(device, DType::f32, {tokens, h.hidden});
    matmul(device, output, rows, weight);
    state.set("attention_output", output);
    state.show(device, "attention_output", output,
               "attention times blk.0.attn_output.weight " + shape.text());
  }

  // What the softmax gave each key, for the last query: [tokens, heads] on the host. Attention over values
  // that are unit vectors reads the weights out, head_dim keys at a time.
  template <class Device>
  static Tensor weights_of_last(Device& device, const Tensor& q, const Tensor& k) {
    const int64_t tokens = q.shape()[0], heads = q.shape()[1], head_dim = q.shape()[2],
                  kv_heads = k.shape()[1];
    Tensor weights = Tensor::host(DType::f32, {tokens, heads});
    for (int64_t first = 0; first < tokens; first += head_dim) {
      Tensor unit = Tensor::host(DType::f32, k.shape());
      const int64_t count = std::min(head_dim, tokens - first);
      for (int64_t i = 0; i < count * kv_heads; ++i) {
        unit.data<float>()[(first * kv_heads + i) * head_dim + i / kv_heads] = 1;
      }
      Tensor y = empty(device, DType::f32, {1, heads, head_dim});
      attention(device, y, q.slice(tokens - 1, 1), k, upload(device, unit));
      const Tensor read = download(device, y);
      for (int64_t i = 0; i < count; ++i) {
        for (int64_t head = 0; head < heads; ++head) {
          weights.data<float>()[(first + i) * heads + head] = read.data<float>()[head * head_dim + i];
        }
      }
    }
    return weights;
  }

  // "head 0: " is" 0.53, …": the token with the largest weight.
  static std::string favourites(const TraceState& state, const Tensor& weights) {
    const int64_t tokens = weights.shape()[0], heads = weights.shape()[1];
    std::ostringstream text;
    text << std::fixed << std::setprecision(2);
    for (int64_t head = 0; head < std::min(heads, kHeadsInNote); ++head) {
      int64_t best = 0;
      for (int64_t i = 1; i < tokens; ++i) {
        if (weights.data<float>()[i * heads + head] > weights.data<float>()[best * heads + head]) best = i;
      }
      text << (head == 0 ? "" : ", ") << "head " << head << ": " << state.pieces[static_cast<size_t>(best)]
           << " " << weights.data<float>()[best * heads + head];
    }
    return text.str();
  }
};

RUNG_TRACE(AttentionStep);

}  // namespace

}  // namespace rung
