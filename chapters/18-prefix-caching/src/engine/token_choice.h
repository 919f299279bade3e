// The next tokens from the logits of a forward pass: on the device where the largest is all that is wanted,
// else on the host.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/sampler.h"
#include "rung/device.h"
#include "tensor/tensor.h"

namespace rung {

struct ChoiceRequest {
  Span<const int32_t> seen;  // prompt and output so far
  SamplingParameters sampling;
  uint64_t step;  // place in the output, from 0
  bool want_log_probability;
};

struct TokenChoice {
  int32_t id = -1;
  double log_probability = 0;  // only if asked for
  std::string error;           // why there is no token; else empty
};

// Memory for choosing tokens of up to max_rows rows at once. A row's choice depends on that row alone.
template <class Device>
class TokenChooser {
 public:
  TokenChooser(Device& device, int64_t max_rows);

  // logits [requests.size(), vocabulary] f32 on the device; one request a row.
  std::vector<TokenChoice> choose(const Tensor& logits, const std::vector<ChoiceRequest>& requests);

 private:
  // Rows of logits on the host: those that are `wanted`, or all.
  const float* fetch(const Tensor& logits, const std::vector<bool>& wanted);

  Device& device_;
  Tensor ids_, host_ids_;  // [max_rows] i32
  Tensor host_logits_;     // [max_rows, vocabulary], made when first needed
  std::unique_ptr<ThreadPool> pool_;
};

}  // namespace rung
