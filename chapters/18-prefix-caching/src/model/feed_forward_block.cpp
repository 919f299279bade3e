// SwiGLU between its three matrix products.
#include "model/feed_forward_block.h"

#include "ops/matmul.h"
#include "ops/swiglu.h"

namespace rung {

template <class Device>
void feed_forward_block(Device& device, const LayerWeights& weights, Activations& a) {
  matmul(device, a.gate, a.normed, weights.gate);
  matmul(device, a.up, a.normed, weights.up);
  swiglu(device, a.gate, a.gate, a.up);
  matmul(device, a.block_output, a.gate, weights.down);
}

template void feed_forward_block(Cpu&, const LayerWeights&, Activations&);
template void feed_forward_block(Cuda&, const LayerWeights&, Activations&);

}  // namespace rung
