// Hyperparameters from config.json: what transformers reads from the same text, and what is refused.
#include "model_file/config_json.h"

#include "testing/catch.h"
#include "testing/fixture.h"
#include "tests/config_cases.h"
#include "tests/error_text.h"
#include "tests/peak_memory.h"

namespace rung {

using testing::complaint;
using testing::error_of;
using testing::TemporaryFolder;

namespace {

Hyperparameters read(const std::string& config) {
  const TemporaryFolder folder;
  return read_config_json(folder.write("config.json", config));
}

std::string error_in(const std::string& config) {
  return error_of([&] { read(config); });
}

// A llama configuration in which `field` (with its quotes) has this value, "" for no such field.
std::string with(const std::string& field, const std::string& value,
                 const std::string& model_type = "\"llama\"") {
  const std::pair<const char*, std::string> fields[] = {
      {"\"model_type\"", model_type}, {"\"hidden_size\"", "64"},        {"\"intermediate_size\"", "96"},
      {"\"num_hidden_layers\"", "2"}, {"\"num_attention_heads\"", "4"}, {"\"num_key_value_heads\"", "2"},
      {"\"vocab_size\"", "512"}};
  std::string text = "{\"unknown\":[{\"hidden_size\":-1}]";
  bool replaced = false;
  for (const auto& [name, usual] : fields) {
    replaced = replaced || name == field;
    const std::string& shown = name == field ? value : usual;
    if (!shown.empty()) text += std::string(",") + name + ":" + shown;
  }
  if (!replaced) text += "," + field + ":" + value;
  return text + "}";
}

std::string rope(const std::string& members) {
  return with("\"rope_scaling\"", "{" + members + "}");
}

}  // namespace

TEST_CASE("config.json is read as transformers reads it") {
  for (const testing::ConfigCase& expected : testing::kConfigCases) {
    INFO(expected.name << ": " << expected.config);
    const Hyperparameters h = read(expected.config);
    CHECK(h.architecture == expected.architecture);
    CHECK(h.layers == expected.layers);
    CHECK(h.hidden == expected.hidden);
    CHECK(h.feed_forward == expected.feed_forward);
    CHECK(h.heads == expected.heads);
    CHECK(h.kv_heads == expected.kv_heads);
    CHECK(h.head_dim == expected.head_dim);
    CHECK(h.vocabulary == expected.vocabulary);
    CHECK(h.context_length == expected.context_length);
    CHECK(h.rms_epsilon == expected.rms_epsilon);
    CHECK(h.tied_embeddings == expected.tied_embeddings);
    CHECK(h.qkv_bias == (expected.architecture == Architecture::qwen2));
    CHECK(h.qk_norm == (expected.architecture == Architecture::qwen3));
    CHECK(h.rope.dims == expected.head_dim);
    CHECK(h.rope.pairing == RopePairing::half_split);
    CHECK(h.rope.base == expected.rope_base);
    CHECK(h.rope.scaling == expected.rope_scaling);
    CHECK(h.rope.factor == expected.factor);
    CHECK(h.rope.low_frequency_factor == expected.low_frequency_factor);
    CHECK(h.rope.high_frequency_factor == expected.high_frequency_factor);
    CHECK(h.rope.original_context_length == expected.original_context_length);
    CHECK(h.rope.frequency_factors.empty());
  }
}

TEST_CASE("the architecture comes from model_type, else from architectures") {
  CHECK(read(with("\"model_type\"", "\"qwen3\"")).architecture == Architecture::qwen3);
  CHECK(read(with("\"architectures\"", "[\"Qwen2ForCausalLM\"]", "")).architecture == Architecture::qwen2);
  CHECK(read(with("\"architectures\"", "[\"Other\",\"LlamaForCausalLM\"]")).architecture ==
        Architecture::llama);
  CHECK(complaint(error_in(with("\"model_type\"", "")), {"config.json", "model_type", "missing"}) == "");
  CHECK(complaint(error_in(with("\"model_type\"", "\"mistral\"")),
                  {"model_type", "\"mistral\"", "llama, qwen2 or qwen3"}) == "");
  CHECK(complaint(error_in(with("\"model_type\"", "\"qwen3_moe\"")), {"model_type", "\"qwen3_moe\""}) == "");
  CHECK(complaint(error_in(with("\"model_type\"", "7")), {"model_type", "is 7", "string"}) == "");
  CHECK(complaint(error_in(with("\"architectures\"", "[\"LlamaForSequenceClassification\"]")),
                  {"architectures", "LlamaForSequenceClassification", "LlamaForCausalLM"}) == "");
  CHECK(complaint(error_in(with("\"architectures\"", "[\"GemmaForCausalLM\"]", "")),
                  {"architectures", "Gemma"}) == "");
  CHECK(complaint(error_in(with("\"architectures\"", "\"LlamaForCausalLM\"")),
                  {"architectures", "an array of strings"}) == "");
  CHECK(complaint(error_in(with("\"architectures\"", "[3]")), {"architectures", "holds 3", "strings"}) == "");
}

TEST_CASE("each field that a model cannot do without is named when it is missing") {
  for (const char* field :
       {"hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "vocab_size"}) {
    INFO(field);
    const std::string quoted_field = "\"" + std::string(field) + "\"";
    CHECK(complaint(error_in(with(quoted_field, "")), {"config.json", quoted_field, "missing"}) == "");
    CHECK(complaint(error_in(with(quoted_field, "null")), {"config.json", quoted_field, "missing"}) == "");
  }
}

TEST_CASE("counts that are no whole number from 1 to 2147483647 are refused") {
  for (const char* field : {"hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads",
                            "num_key_value_heads", "vocab_size", "head_dim", "max_position_embeddings"}) {
    for (const char* value :
         {"\"64\"", "64.0", "64.5", "-64", "0", "2147483648", "18446744073709551616", "1e2", "true", "[64]",
          "{}", "[]", "{\"a\":1}", "99999999999999999999999999999999999999999999"}) {
      INFO(field << " = " << value);
      const std::string quoted_field = "\"" + std::string(field) + "\"";
      CHECK(complaint(error_in(with(quoted_field, value)), {"config.json", quoted_field, "expected"}) == "");
    }
  }
}

TEST_CASE("numbers, flags and words of the wrong type are refused") {
  for (const char* field : {"rms_norm_eps", "rope_theta"}) {
    for (const char* value : {"\"1e-5\"", "false", "[]", "{}", "1e39", "0", "-1"}) {
      INFO(field << " = " << value);
      CHECK(complaint(error_in(with("\"" + std::string(field) + "\"", value)), {"config.json", field}) == "");
    }
  }
  CHECK(complaint(error_in(with("\"rms_norm_eps\"", "1")), {"rms_norm_eps", "less than 1"}) == "");
  for (const char* field : {"tie_word_embeddings", "attention_bias", "mlp_bias"}) {
    for (const char* value : {"1", "\"true\"", "[true]", "{}"}) {
      INFO(field << " = " << value);
      CHECK(complaint(error_in(with("\"" + std::string(field) + "\"", value)), {field, "true or false"}) ==
            "");
    }
  }
  CHECK(complaint(error_in(with("\"hidden_act\"", "3")), {"hidden_act", "string"}) == "");
  CHECK(complaint(error_in(with("\"rope_scaling\"", "2")), {"rope_scaling", "is 2", "object"}) == "");
  CHECK(complaint(error_in(with("\"rope_scaling\"", "[2]")), {"rope_scaling", "array", "object"}) == "");
  CHECK(complaint(error_in(with("\"rope_parameters\"", "\"llama3\"")), {"rope_parameters", "object"}) == "");
}

TEST_CASE("shapes that do not fit together are refused") {
  CHECK(complaint(error_in(with("\"num_key_value_heads\"", "3")),
                  {"num_attention_heads", "4", "num_key_value_heads", "3"}) == "");
  CHECK(complaint(error_in(with("\"num_key_value_heads\"", "8")), {"num_key_value_heads", "8"}) == "");
  CHECK(complaint(error_in(with("\"num_attention_heads\"", "6")),
                  {"hidden_size", "64", "num_attention_heads", "6", "head_dim"}) == "");
  CHECK(complaint(error_in(with("\"head_dim\"", "15")), {"head_dim", "15", "even"}) == "");
  CHECK(complaint(error_in(with("\"num_attention_heads\"", "64")), {"head_dim", "1", "2 to"}) == "");
  CHECK(complaint(error_in(with("\"num_hidden_layers\"", "1000000")), {"num_hidden_layers", "1000000"}) ==
        "");
  CHECK(complaint(error_in(with("\"hidden_size\"", "2147483647")), {"hidden_size", "2147483647"}) == "");
}

TEST_CASE("RoPE of another kind or incomplete is refused by name") {
  for (const char* kind : {"dynamic", "yarn", "longrope", "su", "mrope", "proportional", "LLAMA3", ""}) {
    INFO(kind);
    CHECK(complaint(error_in(rope("\"rope_type\":\"" + std::string(kind) + "\",\"factor\":2")),
                    {"rope_scaling.rope_type", "\"" + std::string(kind) + "\"",
                     "default, linear or llama3"}) == "");
    CHECK(complaint(error_in(rope("\"type\":\"" + std::string(kind) + "\",\"factor\":2")),
                    {"rope_scaling.type"}) == "");
  }
  CHECK(complaint(error_in(rope("\"rope_type\":3")), {"rope_scaling.rope_type", "is 3", "string"}) == "");
  CHECK(complaint(error_in(rope("\"type\":\"linear\"")), {"rope_scaling.factor", "missing"}) == "");
  CHECK(complaint(error_in(rope("\"type\":\"linear\",\"factor\":\"4\"")),
                  {"rope_scaling.factor", "\"4\"", "number"}) == "");
  CHECK(complaint(error_in(rope("\"type\":\"linear\",\"factor\":0")),
                  {"rope_scaling.factor", "0", "above 0"}) == "");
  const std::string llama3 = R"("rope_type":"llama3","factor":8,"original_max_position_embeddings":8192)";
  CHECK(error_in(rope(llama3 + R"(,"low_freq_factor":1,"high_freq_factor":4)")) == "(no error)");
  CHECK(complaint(error_in(rope(llama3 + R"(,"low_freq_factor":1)")),
                  {"rope_scaling.high_freq_factor", "missing"}) == "");
  CHECK(complaint(error_in(rope(llama3 + R"(,"high_freq_factor":4)")),
                  {"rope_scaling.low_freq_factor", "missing"}) == "");
  CHECK(complaint(error_in(rope(llama3 + R"(,"low_freq_factor":4,"high_freq_factor":4)")),
                  {"low_freq_factor is 4", "low < high"}) == "");
  CHECK(complaint(error_in(rope(R"("rope_type":"llama3","factor":8,"low_freq_factor":1,"high_freq_factor":4,)"
                                R"("original_max_position_embeddings":8192.5)")),
                  {"rope_scaling.original_max_position_embeddings", "8192.5", "whole number"}) == "");
  CHECK(complaint(error_in(with("\"rope_parameters\"",
                                R"({"full_attention":{"rope_type":"default","rope_theta":10000}})")),
                  {"rope_parameters.full_attention", "every layer"}) == "");
  CHECK(complaint(error_in(with("\"partial_rotary_factor\"", "0.5")), {"partial_rotary_factor", "0.5"}) ==
        "");
  CHECK(complaint(error_in(rope("\"type\":\"linear\",\"factor\":2,\"partial_rotary_factor\":0.5")),
                  {"rope_scaling.partial_rotary_factor", "0.5"}) == "");
}

TEST_CASE("arithmetic that Rung does not do is refused by name") {
  CHECK(complaint(error_in(with("\"hidden_act\"", "\"gelu\"")), {"hidden_act", "\"gelu\"", "silu"}) == "");
  CHECK(complaint(error_in(with("\"attention_bias\"", "true")), {"attention_bias", "true"}) == "");
  CHECK(complaint(error_in(with("\"attention_bias\"", "true", "\"qwen3\"")), {"attention_bias", "true"}) ==
        "");
  CHECK(error_in(with("\"attention_bias\"", "true", "\"qwen2\"")) ==
        "(no error)");  // a field that Qwen2 does not have
  CHECK(complaint(error_in(with("\"mlp_bias\"", "true")), {"mlp_bias", "true"}) == "");
  CHECK(complaint(error_in(with("\"quantization_config\"", R"({"quant_method":"gptq","bits":4})")),
                  {"quantization_config", "GGUF"}) == "");
  CHECK(error_in(with("\"quantization_config\"", "null")) == "(no error)");
  const std::string window = R"(true,"sliding_window":16,"max_window_layers":1)";
  CHECK(complaint(error_in(with("\"use_sliding_window\"", window, "\"qwen2\"")),
                  {"use_sliding_window", "16"}) == "");
  CHECK(complaint(error_in(with("\"use_sliding_window\"", window, "\"qwen3\"")),
                  {"use_sliding_window", "16"}) == "");
  CHECK(error_in(with("\"use_sliding_window\"", window)) == "(no error)");  // nor llama that one
  CHECK(complaint(error_in(with("\"layer_types\"", R"(["full_attention","sliding_attention"])", "\"qwen3\"")),
                  {"layer_types", "\"sliding_attention\""}) == "");
}

TEST_CASE("a config.json that is broken or hostile is refused") {
  for (const char* text : {"", "{", "[]", "7", "\"a\"", "null", "{\"hidden_size\": 64,}", "{} {}"}) {
    INFO(text);
    CHECK(complaint(error_in(text), {"config.json"}) == "");
  }
  CHECK(complaint(error_in(with("\"rope_theta\"", "1,\"rope_theta\":2")), {"\"rope_theta\" occurs twice"}) ==
        "");
  CHECK(complaint(error_in(rope(R"("type":"linear","type":"linear")")),
                  {"\"rope_scaling.type\" occurs twice"}) == "");
  std::string members;
  for (int i = 0; i < 1000; ++i) members += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":1";
  CHECK(complaint(error_in(rope(members)), {"rope_scaling", "too many members"}) == "");
  CHECK(complaint(error_in(rope("\"" + std::string(101, 'k') + "\":1")), {"rope_scaling", "kkk"}) == "");

  const std::string deep(100000, '[');
  std::string types = "[\"\"", flat = "[0";
  for (int i = 0; i < 100000; ++i) {
    types += ",\"\"";
    flat += ",0";
  }
  for (const std::string& text : {with("\"x\"", deep), with("\"hidden_size\"", deep), rope("\"x\":" + deep),
                                  with("\"layer_types\"", types + "]"), with("\"architectures\"", flat + "]"),
                                  with("\"x\"", flat + "]")}) {
    const TemporaryFolder folder;
    const std::string path = folder.write("config.json", text);
    const testing::PeakMemory memory;
    const std::string error = error_of([&] { read_config_json(path); });
    CHECK((error == "(no error)" || complaint(error, {"config.json"}) == ""));
    CHECK(memory.bytes() < 8 * text.size() + (1 << 20));
  }
}

TEST_CASE("both spellings of the fixtures' RoPE give the same hyperparameters") {
  for (const char* name : {"llama-rope3", "llama-linear"}) {
    INFO(name);
    const std::string folder = testing::fixture_path(name);
    const Hyperparameters old_spelling = read_config_json(folder + "/config_old.json");
    const Hyperparameters new_spelling = read_config_json(folder + "/config_new.json");
    CHECK(old_spelling.rope.scaling != RopeScaling::none);
    CHECK(old_spelling == new_spelling);
    CHECK(old_spelling == read_config_json(folder + "/config.json"));
  }
}

}  // namespace rung
