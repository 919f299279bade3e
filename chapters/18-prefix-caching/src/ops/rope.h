// Rotary position embedding (Su et al. 2021, arXiv:2104.09864): pair i of a head turns by the angle
// position * inverse_frequency[i], so that a dot product of Q and K depends on the distance of their
// positions.
//
//   (a, b) -> (a cos - b sin, b cos + a sin)
#pragma once

#include "model_file/hyperparameters.h"
#include "rung/device.h"
#include "tensor/tensor.h"

namespace rung {

// [rope.dims / 2] f32 on the host: base^(-2i / dims), then linear or llama3 scaling (or the file's frequency
// factors) applied. float32 arithmetic as transformers computes it.
Tensor rope_inverse_frequencies(const RopeParameters& rope);

// Turns x in place.
// x                  [tokens, heads, head_dim] f32
// positions          [tokens] i32, each at least 0
// inverse_frequency  [dims / 2] f32, dims <= head_dim; further elements of a head stay as they are
void rope(Cpu& device, Tensor& x, const Tensor& positions, const Tensor& inverse_frequency,
          RopePairing pairing);
void rope(Cuda& device, Tensor& x, const Tensor& positions, const Tensor& inverse_frequency,
          RopePairing pairing);

}  // namespace rung
