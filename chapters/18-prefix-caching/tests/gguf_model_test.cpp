// Hyperparameters from GGUF metadata: every key, its default, and what is refused.
#include "model_file/gguf_model.h"

#include <functional>
#include <map>

#include "testing/catch.h"
#include "testing/fixture.h"
#include "tests/error_text.h"
#include "tests/gguf_builder.h"

namespace rung {

using testing::complaint;
using testing::error_of;
using testing::GgufBuilder;
using testing::TemporaryFolder;

namespace {

// The smallest metadata and tensors from which hyperparameters can be read; set and erase make it something
// else.
class TinyModel {
 public:
  explicit TinyModel(const std::string& architecture = "llama") : prefix_(architecture + ".") {
    set("general.architecture", architecture);
    set(key("block_count"), uint32_t{2});
    set(key("context_length"), uint32_t{1024});
    set(key("embedding_length"), uint32_t{64});
    set(key("feed_forward_length"), uint32_t{96});
    set(key("attention.head_count"), uint32_t{4});
    set(key("attention.layer_norm_rms_epsilon"), 1e-5f);
    tensor("token_embd.weight", {64, 10});
  }

  std::string key(const std::string& name) const { return prefix_ + name; }
  template <class T>
  TinyModel& set(const std::string& key, T value) {
    entries_[key] = [key, value](GgufBuilder& file) { file.entry(key, value); };
    return *this;
  }
  TinyModel& erase(const std::string& key) {
    entries_.erase(key);
    return *this;
  }
  TinyModel& tensor(const std::string& name, const std::vector<uint64_t>& dims,
                    std::vector<float> values = {}, uint32_t type = 0) {
    tensors_[name] = {dims, std::move(values), type};
    return *this;
  }
  TinyModel& drop(const std::string& name) {
    tensors_.erase(name);
    return *this;
  }

  Hyperparameters read() const {
    const TemporaryFolder folder;
    return GgufModel(folder.write("tiny.gguf", bytes())).hyperparameters();
  }
  std::string error() const {
    return error_of([&] { read(); });
  }

 private:
  struct TensorSpec {
    std::vector<uint64_t> dims;
    std::vector<float> values;  // zeros where there are too few
    uint32_t type;
  };

  std::string bytes() const {
    GgufBuilder file, data;
    file.header(tensors_.size(), entries_.size());
    for (const auto& [key, write] : entries_) write(file);
    for (const auto& [name, spec] : tensors_) {
      file.tensor(name, spec.dims, spec.type, data.size());
      uint64_t elements = 1;
      for (uint64_t size : spec.dims) elements *= size;
      for (uint64_t i = 0; i < elements; ++i) data.number(i < spec.values.size() ? spec.values[i] : 0.0f);
      data.align();
    }
    return file.align().raw(data.bytes()).bytes();
  }

  std::string prefix_;
  std::map<std::string, std::function<void(GgufBuilder&)>> entries_;
  std::map<std::string, TensorSpec> tensors_;
};

}  // namespace

TEST_CASE("GGUF keys that are absent take llama.cpp's defaults") {
  const Hyperparameters h = TinyModel().read();
  CHECK(h.architecture == Architecture::llama);
  CHECK(h.layers == 2);
  CHECK(h.context_length == 1024);
  CHECK(h.hidden == 64);
  CHECK(h.feed_forward == 96);
  CHECK(h.heads == 4);
  CHECK(h.kv_heads == 4);
  CHECK(h.head_dim == 16);
  CHECK(h.vocabulary == 10);
  CHECK(h.rms_epsilon == 1e-5f);
  CHECK(h.tied_embeddings);
  CHECK(h.model_name == "");
  CHECK(h.rope.base == 10000);
  CHECK(h.rope.dims == 16);
  CHECK(h.rope.scaling == RopeScaling::none);
  CHECK(h.rope.frequency_factors.empty());
}

TEST_CASE("GGUF keys that are present are read") {
  TinyModel model("qwen3");
  model.set("general.name", "Tiny").set("qwen3.attention.head_count_kv", uint16_t{2});
  model.set("qwen3.attention.key_length", uint32_t{32}).set("qwen3.attention.value_length", uint32_t{32});
  model.set("qwen3.rope.freq_base", 1e6f).set("qwen3.rope.dimension_count", uint32_t{24});
  model.set("qwen3.rope.scaling.type", "linear").set("qwen3.rope.scaling.factor", 4.0f);
  model.tensor("output.weight", {64, 10});
  const Hyperparameters h = model.read();
  CHECK(h.architecture == Architecture::qwen3);
  CHECK(h.qk_norm);
  CHECK_FALSE(h.qkv_bias);
  CHECK(h.model_name == "Tiny");
  CHECK(h.kv_heads == 2);
  CHECK(h.head_dim == 32);
  CHECK_FALSE(h.tied_embeddings);
  CHECK(h.rope.base == 1e6f);
  CHECK(h.rope.dims == 24);
  CHECK(h.rope.scaling == RopeScaling::linear);
  CHECK(h.rope.factor == 4);
}

TEST_CASE("GGUF RoPE pairs are interleaved in llama and half-split elsewhere") {
  CHECK(TinyModel("llama").read().rope.pairing == RopePairing::interleaved);
  CHECK(TinyModel("qwen2").read().rope.pairing == RopePairing::half_split);
  CHECK(TinyModel("qwen3").read().rope.pairing == RopePairing::half_split);
  CHECK(TinyModel("qwen2").read().qkv_bias);
}

TEST_CASE("GGUF RoPE scaling: a factor alone is linear, none and a factor of 0 or 1 are none") {
  const auto scaling = [](TinyModel model) {
    const RopeParameters rope = model.read().rope;
    return std::pair(rope.scaling, rope.factor);
  };
  const std::pair none(RopeScaling::none, 1.0f), linear(RopeScaling::linear, 4.0f);
  CHECK(scaling(TinyModel().set("llama.rope.scaling.factor", 4.0f)) == linear);
  CHECK(scaling(TinyModel().set("llama.rope.scale_linear", 4.0f)) == linear);
  CHECK(scaling(TinyModel().set("llama.rope.scaling.type", "none").set("llama.rope.scaling.factor", 4.0f)) ==
        none);
  CHECK(scaling(TinyModel().set("llama.rope.scaling.type", "linear")) == none);
  CHECK(scaling(TinyModel().set("llama.rope.scaling.factor", 0.0f)) == none);
  CHECK(scaling(TinyModel().set("llama.rope.scaling.factor", 1.0f)) == none);
  CHECK(complaint(TinyModel().set("llama.rope.scaling.factor", -4.0f).error(),
                  {"tiny.gguf", "rope.scaling.factor", "-4"}) == "");
}

TEST_CASE("rope_freqs.weight becomes frequency factors") {
  const std::vector<float> factors = {1, 1, 1.25f, 2, 4, 8, 16, 32};
  CHECK(TinyModel().tensor("rope_freqs.weight", {8}, factors).read().rope.frequency_factors == factors);
  CHECK(complaint(TinyModel().tensor("rope_freqs.weight", {7}, factors).error(),
                  {"rope_freqs.weight", "[7]", "[8]"}) == "");
  CHECK(complaint(TinyModel().tensor("rope_freqs.weight", {1, 8}, factors).error(),
                  {"rope_freqs.weight", "[8, 1]"}) == "");
  CHECK(complaint(TinyModel().tensor("rope_freqs.weight", {8}, factors, 26).error(),
                  {"rope_freqs.weight", "I32", "F32"}) == "");
  CHECK(complaint(TinyModel().tensor("rope_freqs.weight", {8}, {1, 1, 0}).error(),
                  {"rope_freqs.weight[2]", "above 0"}) == "");
  CHECK(complaint(TinyModel()
                      .tensor("rope_freqs.weight", {8}, factors)
                      .set("llama.rope.scaling.factor", 4.0f)
                      .error(),
                  {"rope_freqs.weight", "linear"}) == "");
}

TEST_CASE("each GGUF key that a model cannot do without is named when it is missing") {
  for (const char* key : {"general.architecture", "llama.block_count", "llama.context_length",
                          "llama.embedding_length", "llama.feed_forward_length", "llama.attention.head_count",
                          "llama.attention.layer_norm_rms_epsilon"}) {
    INFO(key);
    CHECK(complaint(TinyModel().erase(key).error(), {"tiny.gguf", key}) == "");
  }
  CHECK(complaint(TinyModel().drop("token_embd.weight").error(),
                  {"tiny.gguf", "token_embd.weight", "missing"}) == "");
}

TEST_CASE("GGUF keys of the wrong type or out of range are named") {
  for (const char* name :
       {"block_count", "context_length", "embedding_length", "feed_forward_length", "attention.head_count",
        "attention.head_count_kv", "attention.key_length", "rope.dimension_count"}) {
    INFO(name);
    const std::string key = "llama." + std::string(name);
    CHECK(complaint(TinyModel().set(key, "64").error(), {"tiny.gguf", key}) == "");
    CHECK(complaint(TinyModel().set(key, 64.0f).error(), {"tiny.gguf", key}) == "");
    CHECK(complaint(TinyModel().set(key, int32_t{-64}).error(), {"tiny.gguf", key}) == "");
    CHECK(complaint(TinyModel().set(key, uint32_t{0}).error(), {"tiny.gguf", key, "0"}) == "");
    CHECK(complaint(TinyModel().set(key, uint32_t{2147483648u}).error(), {"tiny.gguf", key, "2147483648"}) ==
          "");
    CHECK(complaint(TinyModel().set(key, UINT64_MAX).error(), {"tiny.gguf", key, "18446744073709551615"}) ==
          "");
  }
  CHECK(complaint(TinyModel().set("llama.attention.layer_norm_rms_epsilon", uint32_t{1}).error(),
                  {"llama.attention.layer_norm_rms_epsilon"}) == "");
  CHECK(complaint(TinyModel().set("llama.rope.freq_base", "10000").error(), {"llama.rope.freq_base"}) == "");
  CHECK(complaint(TinyModel().set("general.architecture", uint32_t{1}).error(), {"general.architecture"}) ==
        "");
}

TEST_CASE("GGUF shapes that do not fit together are refused") {
  CHECK(complaint(TinyModel().set("llama.attention.head_count", uint32_t{6}).error(),
                  {"llama.embedding_length", "64", "llama.attention.head_count", "6",
                   "llama.attention.key_length"}) == "");
  CHECK(complaint(TinyModel().set("llama.attention.head_count_kv", uint32_t{3}).error(),
                  {"4", "3", "does not divide"}) == "");
  CHECK(complaint(TinyModel().set("llama.attention.key_length", uint32_t{15}).error(),
                  {"attention.key_length", "15", "even"}) == "");
  CHECK(complaint(TinyModel().set("llama.attention.value_length", uint32_t{8}).error(),
                  {"llama.attention.value_length", "8"}) == "");
  CHECK(complaint(TinyModel().set("llama.rope.dimension_count", uint32_t{18}).error(),
                  {"rope.dimension_count", "18", "2 to 16"}) == "");
  CHECK(complaint(TinyModel().tensor("token_embd.weight", {32, 10}).error(),
                  {"token_embd.weight", "[10, 32]", "64"}) == "");
  CHECK(complaint(TinyModel().tensor("token_embd.weight", {64}).error(), {"token_embd.weight", "[64]"}) ==
        "");
}

TEST_CASE("GGUF models that Rung would compute wrongly are refused by name") {
  for (const char* architecture : {"gemma3", "mistral3", "qwen2moe", "", "LLAMA"}) {
    INFO(architecture);
    CHECK(complaint(TinyModel(architecture).error(),
                    {"tiny.gguf", "general.architecture", "\"" + std::string(architecture) + "\"",
                     "llama, qwen2 or qwen3"}) == "");
  }
  for (const char* kind : {"yarn", "longrope", "llama3", "dynamic"}) {
    CHECK(complaint(TinyModel().set("llama.rope.scaling.type", kind).error(),
                    {"llama.rope.scaling.type", kind, "none or linear"}) == "");
  }
  CHECK(complaint(TinyModel().set("llama.rope.scaling.attn_factor", 0.5f).error(),
                  {"llama.rope.scaling.attn_factor", "0.5"}) == "");
  CHECK(complaint(TinyModel().set("llama.expert_count", uint32_t{8}).error(), {"llama.expert_count", "8"}) ==
        "");
  CHECK(TinyModel().set("llama.expert_count", uint32_t{0}).error() == "(no error)");
  CHECK(complaint(TinyModel().set("llama.attention.sliding_window", uint32_t{512}).error(),
                  {"llama.attention.sliding_window", "512"}) == "");
  CHECK(TinyModel().set("llama.attention.sliding_window", uint32_t{1024}).error() == "(no error)");
  CHECK(complaint(TinyModel().set("llama.attention.causal", false).error(), {"llama.attention.causal"}) ==
        "");
  CHECK(complaint(TinyModel().set("split.count", uint16_t{2}).error(), {"split.count", "2", "merge"}) == "");
  CHECK(TinyModel().set("split.count", uint16_t{1}).error() == "(no error)");
  CHECK(complaint(TinyModel().tensor("blk.0.attn_q.bias", {64}).error(), {"blk.0.attn_q.bias", "llama"}) ==
        "");
  CHECK(TinyModel("qwen2").tensor("blk.0.attn_q.bias", {64}).error() == "(no error)");
  CHECK(complaint(TinyModel("qwen2").tensor("blk.0.attn_output.bias", {64}).error(),
                  {"blk.0.attn_output.bias", "qwen2"}) == "");
}

}  // namespace rung
