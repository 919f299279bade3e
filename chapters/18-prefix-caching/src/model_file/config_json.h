// Hyperparameters from config.json, the file that Hugging Face transformers writes beside the weights.
#pragma once

#include <string>

#include "model_file/hyperparameters.h"

namespace rung {

// Reads the config.json at path, with RoPE in the spelling up to transformers 4 (rope_theta and rope_scaling)
// or from 5 on (rope_parameters). A field that is absent or null takes the default of transformers'
// LlamaConfig, Qwen2Config or Qwen3Config; those without which there is no model are required. Throws Error
// naming file and field for a value of the wrong type or out of range, and for everything with which Rung
// would compute something else than transformers: other architectures, sliding windows, other activations,
// biases, RoPE types, quantized weights.
Hyperparameters read_config_json(const std::string& path);

}  // namespace rung
