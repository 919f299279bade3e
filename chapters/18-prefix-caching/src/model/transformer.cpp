// The forward pass: embedding, layers, LM head.
#include "model/transformer.h"

#include <type_traits>

#include "model/attention_block.h"
#include "model/feed_forward_block.h"
#include "model/lm_head.h"
#include "ops/add.h"
#include "ops/embedding.h"
#include "ops/rms_norm.h"
#include "ops/rope.h"
#include "rung/error.h"

namespace rung {

namespace {

// A host view of a vector.
Tensor view(const std::vector<int32_t>& values) {
  return Tensor(DType::i32, {static_cast<int64_t>(values.size())}, const_cast<int32_t*>(values.data()));
}

}  // namespace

template <class Device>
Transformer<Device>::Transformer(Device& device, std::shared_ptr<const ModelFile> model, int64_t max_tokens,
                                 int64_t max_logit_rows, WeightType weight_type)
    : device_(device),
      model_(std::move(model)),
      weights_(load_weights(device, *model_, weight_type,
                            activation_bytes(model_->hyperparameters(), max_tokens, max_logit_rows))),
      inverse_frequency_(upload(device, rope_inverse_frequencies(model_->hyperparameters().rope))),
      activations_(allocate_activations(device, model_->hyperparameters(), max_tokens, max_logit_rows)),
      integers_(device, 3 * max_tokens + 6 * max_logit_rows + 3) {}

template <class Device>
void Transformer<Device>::check(const Batch& batch, const KvCache& cache) const {
  const int64_t most_rows = activations_.logits.shape()[0];
  const auto logit_rows = static_cast<int64_t>(batch.logit_rows.size());
  if (batch.tokens() == 0 || batch.tokens() > max_tokens() || logit_rows > most_rows ||
      batch.sequences() > most_rows) {
    fail("a forward pass of ", batch.tokens(), " tokens of ", batch.sequences(), " sequences with ",
         logit_rows, " rows of logits: there is space for 1 to ", max_tokens(), " tokens, ", most_rows,
         " sequences and as many rows");
  }
  check_token_ids(view(batch.ids), hyperparameters().vocabulary);
  const int64_t slots = cache.slots();
  for (const int32_t slot : batch.slot_mapping) {
    if (slot < -1 || slot >= slots) fail("a token goes to slot ", slot, ": the KV cache has ", slots);
  }
}

template <class Device>
Tensor Transformer<Device>::forward(const Batch& batch, KvCache& cache) {
  const Hyperparameters& h = hyperparameters();
  const auto logit_rows = static_cast<int64_t>(batch.logit_rows.size());
  check(batch, cache);
  Activations a = first_rows(activations_, batch.tokens(), logit_rows);
  const auto table_entries = static_cast<int64_t>(batch.block_table.size());
  integers_.reserve(device_, 3 * batch.tokens() + 6 * batch.sequences() + logit_rows + 3 + table_entries);
  a.ids = integers_.add(batch.ids);
  a.positions = integers_.add(batch.positions);
  a.slot_mapping = integers_.add(batch.slot_mapping);
  a.logit_rows = integers_.add(batch.logit_rows);
  const AttentionTiles tiles = attention_tiles(batch.query_begin, batch.context);
  a.sequences = {integers_.add(batch.query_begin),
                 integers_.add(batch.context),
                 integers_.add(batch.first_block),
                 batch.query_begin,
                 batch.context,
                 batch.first_block,
                 integers_.add(tiles.query_begin),
                 integers_.add(tiles.key_begin),
                 tiles.query_begin.back(),
                 tiles.key_begin.back(),
                 integers_.add(batch.block_table),
                 batch.block_table,
                 batch.block_size};
  integers_.send(device_);

  embedding(device_, a.residual, weights_.token_embedding, a.ids);
  rms_norm(device_, a.normed, a.residual, weights_.layers[0].attention_norm, h.rms_epsilon);
  for (int layer = 0; layer < h.layers; ++layer) {
    const LayerWeights& weights = weights_.layers[layer];
    attention_block(device_, h, weights, inverse_frequency_, cache, layer, a);
    add_rms_norm(device_, a.normed, a.residual, a.block_output, weights.feed_forward_norm, h.rms_epsilon);
    feed_forward_block(device_, weights, a);
    if (layer + 1 < h.layers) {
      add_rms_norm(device_, a.normed, a.residual, a.block_output, weights_.layers[layer + 1].attention_norm,
                   h.rms_epsilon);
    } else {
      add(device_, a.residual, a.block_output);
    }
  }
  if (logit_rows == 0) return Tensor();
  lm_head(device_, h, weights_, a);
  return a.logits;
}

template <class Device>
DType Transformer<Device>::kv_type() const {
  const DType stored = weights_.layers[0].k.dtype();
  return std::is_same_v<Device, Cuda> && (stored == DType::f16 || stored == DType::bf16) ? stored
                                                                                         : DType::f32;
}

template <class Device>
size_t Transformer<Device>::weight_bytes() const {
  size_t bytes = weights_.lm_head.bytes();
  for (const LayerWeights& w : weights_.layers) {
    for (const Tensor* tensor : {&w.q, &w.k, &w.v, &w.attention_output, &w.gate, &w.up, &w.down})
      bytes += tensor->bytes();
  }
  return bytes;
}

template class Transformer<Cpu>;
template class Transformer<Cuda>;

}  // namespace rung
