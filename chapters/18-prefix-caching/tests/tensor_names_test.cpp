// The two names of a tensor. Expectations: gguf's own table (gguf.TensorNameMap for llama, qwen2 and qwen3).
#include "model_file/tensor_names.h"

#include "testing/catch.h"

namespace rung {

TEST_CASE("tensor names are translated both ways") {
  const char* const pairs[][2] = {
      {"model.embed_tokens.weight", "token_embd.weight"},
      {"model.norm.weight", "output_norm.weight"},
      {"lm_head.weight", "output.weight"},
      {"model.layers.0.input_layernorm.weight", "blk.0.attn_norm.weight"},
      {"model.layers.7.self_attn.q_proj.weight", "blk.7.attn_q.weight"},
      {"model.layers.7.self_attn.q_proj.bias", "blk.7.attn_q.bias"},
      {"model.layers.10.self_attn.k_proj.weight", "blk.10.attn_k.weight"},
      {"model.layers.10.self_attn.k_proj.bias", "blk.10.attn_k.bias"},
      {"model.layers.123.self_attn.v_proj.weight", "blk.123.attn_v.weight"},
      {"model.layers.123.self_attn.v_proj.bias", "blk.123.attn_v.bias"},
      {"model.layers.1.self_attn.o_proj.weight", "blk.1.attn_output.weight"},
      {"model.layers.1.self_attn.q_norm.weight", "blk.1.attn_q_norm.weight"},
      {"model.layers.1.self_attn.k_norm.weight", "blk.1.attn_k_norm.weight"},
      {"model.layers.1.post_attention_layernorm.weight", "blk.1.ffn_norm.weight"},
      {"model.layers.1.mlp.gate_proj.weight", "blk.1.ffn_gate.weight"},
      {"model.layers.1.mlp.up_proj.weight", "blk.1.ffn_up.weight"},
      {"model.layers.1.mlp.down_proj.weight", "blk.1.ffn_down.weight"},
  };
  for (const auto& [hugging_face, canonical] : pairs) {
    CHECK(canonical_name(hugging_face) == canonical);
    CHECK(hugging_face_name(canonical) == hugging_face);
  }
}

TEST_CASE("names that are almost right have no translation") {
  for (const char* name :
       {"", "model", "model.layers.", "model.layers.0", "model.layers.0.", "model.layers..mlp.up_proj.weight",
        "model.layers.x.mlp.up_proj.weight", "model.layers.00.mlp.up_proj.weight",
        "model.layers.01.mlp.up_proj.weight", "model.layers.-1.mlp.up_proj.weight",
        "model.layers.1.mlp.up_proj.weight.", "model.layers.1mlp.up_proj.weight",
        "layers.1.mlp.up_proj.weight", "model.layers.1.mlp.up_proj", "blk.1.ffn_up.weight",
        "embed_tokens.weight", "model.layers.0.self_attn.rotary_emb.inv_freq"}) {
    INFO(name);
    CHECK(canonical_name(name) == "");
  }
  for (const char* name : {"", "blk", "blk.1", "blk.1.", "blk.1.mlp.up_proj.weight", "blk.a.ffn_up.weight",
                           "blk.01.ffn_up.weight", "model.embed_tokens.weight", "rope_freqs.weight"}) {
    INFO(name);
    CHECK(hugging_face_name(name) == "");
  }
}

}  // namespace rung
