// The table of tensor names, and its translation in either direction.
#include "model_file/tensor_names.h"

#include "rung/error.h"

namespace rung {

namespace {

struct Names {
  std::string_view hugging_face, canonical;
};
using Column = std::string_view Names::*;

constexpr Names kModel[] = {
    {"model.embed_tokens.weight", "token_embd.weight"},
    {"model.norm.weight", "output_norm.weight"},
    {"lm_head.weight", "output.weight"},
};

// Behind "model.layers.N." and "blk.N.".
constexpr Names kLayer[] = {
    {"input_layernorm.weight", "attn_norm.weight"},
    {"self_attn.q_proj.weight", "attn_q.weight"},
    {"self_attn.q_proj.bias", "attn_q.bias"},
    {"self_attn.q_norm.weight", "attn_q_norm.weight"},
    {"self_attn.k_proj.weight", "attn_k.weight"},
    {"self_attn.k_proj.bias", "attn_k.bias"},
    {"self_attn.k_norm.weight", "attn_k_norm.weight"},
    {"self_attn.v_proj.weight", "attn_v.weight"},
    {"self_attn.v_proj.bias", "attn_v.bias"},
    {"self_attn.o_proj.weight", "attn_output.weight"},
    {"post_attention_layernorm.weight", "ffn_norm.weight"},
    {"mlp.gate_proj.weight", "ffn_gate.weight"},
    {"mlp.up_proj.weight", "ffn_up.weight"},
    {"mlp.down_proj.weight", "ffn_down.weight"},
};

constexpr Names kLayerPrefix = {"model.layers.", "blk."};

// BEGIN SOLUTION 03.2
// Splits "blk.12.attn_q.weight" behind its prefix into "12" and "attn_q.weight". False unless the number is
// one or more digits without leading zeros and a point follows.
bool split_layer(std::string_view name, std::string_view prefix, std::string_view& number,
                 std::string_view& rest) {
  if (name.substr(0, prefix.size()) != prefix) return false;
  name.remove_prefix(prefix.size());
  const size_t point = name.find_first_not_of("0123456789");
  if (point == 0 || point == name.npos || name[point] != '.' || (name[0] == '0' && point > 1)) return false;
  number = name.substr(0, point);
  rest = name.substr(point + 1);
  return true;
}

// The name in column `to` of the row whose column `from` is `name`, layer numbers kept; empty if there is
// none.
std::string translate(std::string_view name, Column from, Column to) {
  for (const Names& names : kModel) {
    if (names.*from == name) return std::string(names.*to);
  }
  std::string_view number, rest;
  if (!split_layer(name, kLayerPrefix.*from, number, rest)) return "";
  for (const Names& names : kLayer) {
    if (names.*from != rest) continue;
    std::string result(kLayerPrefix.*to);
    return result.append(number).append(".").append(names.*to);
  }
  return "";
}
// STUB: std::string translate(std::string_view, Column, Column) { not_done("03.2"); }
// END SOLUTION

}  // namespace

std::string canonical_name(std::string_view hugging_face_name) {
  return translate(hugging_face_name, &Names::hugging_face, &Names::canonical);
}

std::string hugging_face_name(std::string_view canonical_name) {
  return translate(canonical_name, &Names::canonical, &Names::hugging_face);
}

}  // namespace rung
