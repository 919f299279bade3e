// The weights of a transformer as slots, filled from a model file through one
// table from canonical name to slot.
#pragma once

#include <string>
#include <vector>

#include "model_file/model_file.h"
#include "rung/device.h"
#include "tensor/tensor.h"

namespace rung {

struct LayerWeights {
  Tensor attention_norm;  // [hidden]
  Tensor q, k,
      v;                          // [heads * head_dim, hidden], [kv_heads * head_dim, hidden] twice
  Tensor q_bias, k_bias, v_bias;  // qwen2; else empty
  Tensor q_norm, k_norm;          // [head_dim], qwen3; else empty
  Tensor attention_output;        // [hidden, heads * head_dim]
  Tensor feed_forward_norm;       // [hidden]
  Tensor gate, up;                // [feed_forward, hidden]
  Tensor down;                    // [hidden, feed_forward]
};

struct Weights {
  Tensor token_embedding;  // [vocabulary, hidden]
  std::vector<LayerWeights> layers;
  Tensor output_norm;  // [hidden]
  Tensor lm_head;      // [vocabulary, hidden]; the same memory as token_embedding if
                       // they are tied
};

// How matrices are kept on Cuda. (On Cpu they stay as the file stores them.)
enum class WeightType : uint8_t {
  stored,  // f32, f16 and bf16 as they are, block formats expanded to f32
  f16,     // everything converted
  bf16,
};

// Throws Error naming the model and the tensor that is missing, has the wrong
// shape, or that the architecture does not know (another one's weights would
// otherwise be ignored without a word). Before anything is loaded throws Error
// with both numbers if the device has no memory for the weights and
// `further_bytes`. (On Cpu matrices stay in the mapped file; where they did not
// fit, each pass would read them from the disk.)
Weights load_weights(Cpu& device, const ModelFile& model, WeightType type = WeightType::stored,
                     uint64_t further_bytes = 0);
Weights load_weights(Cuda& device, const ModelFile& model, WeightType type = WeightType::stored,
                     uint64_t further_bytes = 0);

}  // namespace rung
