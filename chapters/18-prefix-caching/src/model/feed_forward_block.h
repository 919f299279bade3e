// The second half of a layer: each token by itself through a wider space and
// back.
#pragma once

#include "model/activations.h"
#include "model/weights.h"

namespace rung {

// Reads a.normed, writes a.block_output: down(silu(gate(normed)) * up(normed)).
template <class Device>
void feed_forward_block(Device& device, const LayerWeights& weights, Activations& a);

}  // namespace rung
