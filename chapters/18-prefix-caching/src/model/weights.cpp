// The table from tensor names to weight slots, and loading by it.
#include "model/weights.h"

#include <set>

#include "model/weight_conversion.h"
#include "rung/error.h"
#include "rung/progress.h"
#include "tensor/decode.h"
#include "tensor/device_tensor.h"

namespace rung {

namespace {

// One line of the table: a tensor's canonical name, the slot that it fills, its
// shape, and whether this model has it.
template <class Owner>
struct Slot {
  const char* name;
  Tensor Owner::*tensor;
  Shape shape;
  bool present = true;
};

std::vector<Slot<Weights>> model_slots(const Hyperparameters& h) {
  return {
      {"token_embd.weight", &Weights::token_embedding, {h.vocabulary, h.hidden}},
      {"output_norm.weight", &Weights::output_norm, {h.hidden}},
      {"output.weight", &Weights::lm_head, {h.vocabulary, h.hidden}, !h.tied_embeddings},
  };
}

std::vector<Slot<LayerWeights>> layer_slots(const Hyperparameters& h) {
  return {
      {"attn_norm.weight", &LayerWeights::attention_norm, {h.hidden}},
      {"attn_q.weight", &LayerWeights::q, {h.query_width(), h.hidden}},
      {"attn_k.weight", &LayerWeights::k, {h.kv_width(), h.hidden}},
      {"attn_v.weight", &LayerWeights::v, {h.kv_width(), h.hidden}},
      {"attn_q.bias", &LayerWeights::q_bias, {h.query_width()}, h.qkv_bias},
      {"attn_k.bias", &LayerWeights::k_bias, {h.kv_width()}, h.qkv_bias},
      {"attn_v.bias", &LayerWeights::v_bias, {h.kv_width()}, h.qkv_bias},
      {"attn_q_norm.weight", &LayerWeights::q_norm, {h.head_dim}, h.qk_norm},
      {"attn_k_norm.weight", &LayerWeights::k_norm, {h.head_dim}, h.qk_norm},
      {"attn_output.weight", &LayerWeights::attention_output, {h.hidden, h.query_width()}},
      {"ffn_norm.weight", &LayerWeights::feed_forward_norm, {h.hidden}},
      {"ffn_gate.weight", &LayerWeights::gate, {h.feed_forward, h.hidden}},
      {"ffn_up.weight", &LayerWeights::up, {h.feed_forward, h.hidden}},
      {"ffn_down.weight", &LayerWeights::down, {h.hidden, h.feed_forward}},
  };
}

// Vectors (norms, biases) become float32; matrices stay as they are.
Tensor place_weight(Cpu&, const Tensor& stored, WeightType) {
  return stored.shape().dims() == 1 ? to_f32(stored) : stored;
}

Tensor place_weight(Cuda& device, const Tensor& stored, WeightType type) {
  if (stored.shape().dims() == 1) return upload(device, to_f32(stored));
  if (type == WeightType::f16) return upload(device, converted(stored, DType::f16));
  if (type == WeightType::bf16) return upload(device, converted(stored, DType::bf16));
  return upload(device, is_quantized(stored.dtype()) ? to_f32(stored) : stored);
}

// Bytes that place_weight() takes, those of the mapped file included.
uint64_t placed_bytes(Cpu&, const Tensor& stored, WeightType) {
  return stored.shape().dims() == 1 ? 4 * static_cast<uint64_t>(stored.elements()) : stored.bytes();
}

uint64_t placed_bytes(Cuda&, const Tensor& stored, WeightType type) {
  const auto elements = static_cast<uint64_t>(stored.elements());
  if (stored.shape().dims() == 1) return 4 * elements;
  if (type != WeightType::stored) return 2 * elements;
  return is_quantized(stored.dtype()) ? 4 * elements : stored.bytes();
}

template <class Device>
Weights load(Device& device, const ModelFile& model, WeightType type, uint64_t further_bytes) {
  const Hyperparameters& h = model.hyperparameters();
  uint64_t bytes = further_bytes;
  if (std::is_same_v<Device, Cuda> || model.mapped()) {
    for (const std::string& name : model.tensor_names())
      bytes += placed_bytes(device, *model.find(name), type);
  }
  check_memory(device, model.path() + ": weights and activations", bytes);
  std::set<std::string, std::less<>> used = {"rope_freqs.weight"};  // part of the hyperparameters
  const auto fill = [&](auto& owner, const auto& slots, const std::string& prefix) {
    for (const auto& slot : slots) {
      if (!slot.present) continue;
      const std::string name = prefix + slot.name;
      owner.*slot.tensor = place_weight(device, model.tensor(name, slot.shape), type);
      used.insert(name);
    }
  };
  Weights weights;
  Progress progress("loading weights", static_cast<size_t>(h.layers));
  fill(weights, model_slots(h), "");
  if (h.tied_embeddings) weights.lm_head = weights.token_embedding;
  for (int layer = 0; layer < h.layers; ++layer) {
    fill(weights.layers.emplace_back(), layer_slots(h), "blk." + std::to_string(layer) + ".");
    progress.advance_to(static_cast<size_t>(layer) + 1);
  }
  for (const std::string& name : model.tensor_names()) {
    if (used.count(name) == 0) {
      fail(model.path(), ": tensor ", quoted(name), " has no place in architecture ",
           rung::name(h.architecture), " with ", h.layers, " layers: the result would be wrong without it");
    }
  }
  return weights;
}

}  // namespace

Weights load_weights(Cpu& device, const ModelFile& model, WeightType type, uint64_t further_bytes) {
  return load(device, model, type, further_bytes);
}
Weights load_weights(Cuda& device, const ModelFile& model, WeightType type, uint64_t further_bytes) {
  return load(device, model, type, further_bytes);
}

}  // namespace rung
