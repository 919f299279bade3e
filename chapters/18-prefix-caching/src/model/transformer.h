// The whole model: token ids in, logits out.
#pragma once

#include <memory>

#include "cache/kv_cache.h"
#include "model/activations.h"
#include "model/batch.h"
#include "model/weights.h"
#include "tensor/staged_integers.h"

namespace rung {

template <class Device>
class Transformer {
 public:
  // max_tokens: the most tokens that one forward pass may hold; max_logit_rows: for how many of them it gives
  // logits, and of how many sequences they may be. Keeps the device by reference and the model's file mapped.
  // Throws Error as load_weights() does.
  Transformer(Device& device, std::shared_ptr<const ModelFile> model, int64_t max_tokens,
              int64_t max_logit_rows = 1, WeightType weight_type = WeightType::stored);

  // Logits [batch.logit_rows, vocabulary] f32 on the device, valid until the next call; empty if no rows are
  // asked for. Keys and values of the batch's tokens are in the cache afterwards. A token's logits depend on
  // its own sequence alone, whatever else is in the batch: to the bit on Cpu and the emulator, and on a GPU
  // if device.batch_invariant is set. Throws Error if an id is not in the vocabulary, the batch is larger
  // than the space for it, or a slot is not in the cache.
  Tensor forward(const Batch& batch, KvCache& cache);

  Device& device() const { return device_; }
  const Hyperparameters& hyperparameters() const { return model_->hyperparameters(); }
  int64_t max_tokens() const { return activations_.residual.shape()[0]; }
  int64_t max_sequences() const { return activations_.logits.shape()[0]; }
  // The type in which keys and values are best kept: float32 on Cpu; on Cuda the matrices' type if it has 16
  // bits.
  DType kv_type() const;
  // Bytes of weights that every pass reads, embedding table left out unless it is the LM head too.
  size_t weight_bytes() const;
  // Those of them that may still lie on the disk, in a mapped file, and will take memory when they are read.
  size_t unread_weight_bytes() const {
    return std::is_same_v<Device, Cpu> && model_->mapped() ? weight_bytes() : 0;
  }

 private:
  void check(const Batch& batch, const KvCache& cache) const;

  Device& device_;
  std::shared_ptr<const ModelFile> model_;
  Weights weights_;
  Tensor inverse_frequency_;
  Activations activations_;
  StagedIntegers integers_;
};

}  // namespace rung
