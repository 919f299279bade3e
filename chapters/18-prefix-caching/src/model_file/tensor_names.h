// What the two formats call the same tensor. Rung uses GGUF's names everywhere ("canonical").
#pragma once

#include <string>
#include <string_view>

namespace rung {

// "model.layers.3.self_attn.q_proj.weight" -> "blk.3.attn_q.weight"; empty if Rung knows no such tensor.
std::string canonical_name(std::string_view hugging_face_name);

// The other way; empty if Rung knows no such tensor.
std::string hugging_face_name(std::string_view canonical_name);

}  // namespace rung
