// A model of a given shape with random weights: its speed and memory can be measured without downloading it.
#pragma once

#include <memory>
#include <string>

#include "model_file/model_file.h"

namespace rung {

// The shape that a Hugging Face config.json describes, every tensor that its architecture has, matrices in
// dtype (f32, f16 or bf16) drawn from a fixed seed with the spread that keeps the residual stream near 1,
// norms all ones, biases zero. Throws Error as read_config_json() does, and with both numbers if there is no
// memory for them.
std::shared_ptr<const ModelFile> dummy_model(const std::string& config_path, DType dtype);

}  // namespace rung
