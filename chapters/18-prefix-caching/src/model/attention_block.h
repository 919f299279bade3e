// The first half of a layer: each token looks at itself and at the tokens before it in its sequence, whose
// keys and values are cached.
#pragma once

#include "cache/kv_cache.h"
#include "model/activations.h"
#include "model/weights.h"

namespace rung {

// Reads a.normed (the normed residual stream), writes a.block_output (what is added to it), and writes the
// tokens' keys and values into this layer's slots a.slot_mapping. inverse_frequency:
// rope_inverse_frequencies() on the device.
template <class Device>
void attention_block(Device& device, const Hyperparameters& h, const LayerWeights& weights,
                     const Tensor& inverse_frequency, const KvCache& cache, int layer, Activations& a);

}  // namespace rung
