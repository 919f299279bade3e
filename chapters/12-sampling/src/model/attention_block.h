// The first half of a layer: each token looks at the tokens before it.
#pragma once

#include "model/activations.h"
#include "model/weights.h"

namespace rung {

// Reads a.normed (the normed residual stream), writes a.block_output (what is
// added to it). inverse_frequency: rope_inverse_frequencies() on the device.
template <class Device>
void attention_block(Device& device, const Hyperparameters& h, const LayerWeights& weights,
                     const Tensor& inverse_frequency, Activations& a);

}  // namespace rung
