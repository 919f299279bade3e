// The whole model: token ids in, logits out.
#pragma once

#include <memory>

#include "model/activations.h"
#include "model/batch.h"
#include "model/weights.h"

namespace rung {

template <class Device>
class Transformer {
 public:
  // max_tokens: the most tokens that one forward pass may hold; max_logit_rows:
  // for how many of them it gives logits. Keeps the device by reference and the
  // model's file mapped. Throws Error as load_weights() does.
  Transformer(Device& device, std::shared_ptr<const ModelFile> model, int64_t max_tokens,
              int64_t max_logit_rows = 1, WeightType weight_type = WeightType::stored);

  // Logits [batch.logit_rows, vocabulary] f32 on the device; valid until the
  // next call. Throws Error if an id is not in the vocabulary or the batch is
  // larger than the space for it.
  Tensor forward(const Batch& batch);

  Device& device() const { return device_; }
  const Hyperparameters& hyperparameters() const { return model_->hyperparameters(); }
  int64_t max_tokens() const { return activations_.ids.shape()[0]; }

 private:
  Device& device_;
  std::shared_ptr<const ModelFile> model_;
  Weights weights_;
  Tensor inverse_frequency_;
  Activations activations_;
};

}  // namespace rung
