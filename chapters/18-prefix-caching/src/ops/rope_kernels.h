// The kernels of RoPE, each callable by name so that tests and measurements can set them side by side. rope()
// uses the first for few tokens, else the second. Operands as in rope().
#pragma once

#include "model_file/hyperparameters.h"
#include "rung/device.h"
#include "tensor/tensor.h"

namespace rung {

// One thread for one pair of one head: every head works out the same sine and cosine again.
void rope_one_pair(Cuda& device, Tensor& x, const Tensor& positions, const Tensor& inverse_frequency,
                   RopePairing pairing);

// One thread for one pair of all heads of a token: one sine and cosine.
void rope_all_heads(Cuda& device, Tensor& x, const Tensor& positions, const Tensor& inverse_frequency,
                    RopePairing pairing);

}  // namespace rung
