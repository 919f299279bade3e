// The next token from the logits of a forward pass: on the device where the
// largest is all that is wanted, else on the host.
#pragma once

#include "engine/sampler.h"
#include "rung/device.h"
#include "tensor/tensor.h"

namespace rung {

struct TokenChoice {
  int32_t id;
  double log_probability = 0;  // only if asked for
};

// logits [1, vocabulary] on the device; seen: prompt and output so far; step:
// place in the output, from 0.
template <class Device>
TokenChoice choose_token(Device& device, const Tensor& logits, Span<const int32_t> seen,
                         const SamplingParameters& sampling, uint64_t step, bool want_log_probability);

}  // namespace rung
