// Q, K and V, norms of heads, RoPE, attention, and the output product.
#include "model/attention_block.h"

#include "ops/matmul.h"
#include "ops/rms_norm.h"
#include "ops/rope.h"
#include "ops/sequence_attention.h"
#include "ops/store_kv.h"

namespace rung {

template <class Device>
void attention_block(Device& device, const Hyperparameters& h, const LayerWeights& weights,
                     const Tensor& inverse_frequency, const KvCache& cache, int layer, Activations& a) {
  const int64_t tokens = a.normed.shape()[0];
  Tensor q = a.q.reshaped({tokens, h.heads, h.head_dim});
  Tensor k = a.k.reshaped({tokens, h.kv_heads, h.head_dim});
  Tensor attended = a.attended.reshaped({tokens, h.heads, h.head_dim});

  matmul(device, a.q, a.normed, weights.q, weights.q_bias);
  matmul(device, a.k, a.normed, weights.k, weights.k_bias);
  matmul(device, a.v, a.normed, weights.v, weights.v_bias);
  if (h.qk_norm) {
    Tensor q_heads = a.q.reshaped({tokens * h.heads, h.head_dim});
    Tensor k_heads = a.k.reshaped({tokens * h.kv_heads, h.head_dim});
    rms_norm(device, q_heads, q_heads, weights.q_norm, h.rms_epsilon);
    rms_norm(device, k_heads, k_heads, weights.k_norm, h.rms_epsilon);
  }
  rope(device, q, a.positions, inverse_frequency, h.rope.pairing);
  rope(device, k, a.positions, inverse_frequency, h.rope.pairing);

  Tensor keys = cache.keys(layer), values = cache.values(layer);
  store_kv(device, keys, values, a.k, a.v, a.slot_mapping);
  attention(device, attended, q, keys, values, a.sequences);
  matmul(device, a.block_output, a.attended, weights.attention_output);
}

template void attention_block(Cpu&, const Hyperparameters&, const LayerWeights&, const Tensor&,
                              const KvCache&, int, Activations&);
template void attention_block(Cuda&, const Hyperparameters&, const LayerWeights&, const Tensor&,
                              const KvCache&, int, Activations&);

}  // namespace rung
