// Both formats behind one view: the same model, told twice.
#include "model_file/model_file.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "model_file/gguf_file.h"
#include "tensor/decode.h"
#include "testing/catch.h"
#include "testing/compare.h"
#include "testing/fixture.h"
#include "tests/error_text.h"
#include "tests/safetensors_builder.h"

namespace rung {

using testing::compare_bits;
using testing::complaint;
using testing::error_of;
using testing::fixture_path;
using testing::TemporaryFolder;

namespace {

Span<const float> floats(const Tensor& tensor) {
  return {tensor.data<float>(), static_cast<size_t>(tensor.elements())};
}

// Rows of Q or K as safetensors has them, from GGUF's llama order: row 2i + s of a head came from row i + s *
// half.
Tensor undo_row_order(const Tensor& tensor, int head_dim) {
  const Tensor from = to_f32(tensor);
  Tensor to = Tensor::host(DType::f32, from.shape());
  const int64_t columns = from.shape().dims() == 1 ? 1 : from.shape().columns(), half = head_dim / 2;
  for (int64_t row = 0; row < from.shape()[0]; ++row) {
    const int64_t head = row / head_dim, in_head = row % head_dim;
    const int64_t target = head * head_dim + in_head / 2 + in_head % 2 * half;
    std::copy_n(from.data<float>() + row * columns, columns, to.data<float>() + target * columns);
  }
  return to;
}

bool is_query_or_key(const std::string& name) {
  return name.find(".attn_q.") != name.npos || name.find(".attn_k.") != name.npos;
}

const char* const kModels[] = {"llama-rope3",  "llama-untied", "llama-linear", "qwen2-bias",
                               "qwen2-untied", "qwen3",        "llama-bf16"};

constexpr const char* kConfig =
    R"({"model_type":"llama","hidden_size":2,"intermediate_size":2,"num_hidden_layers":1,)"
    R"("num_attention_heads":1,"vocab_size":3,"tie_word_embeddings":true})";
// token_embd.weight [3, 2], and a tensor that Rung has no name for.
std::string tiny_weights(const std::string& dtype = "F32", const std::string& embedding_shape = "[3,2]") {
  return testing::safetensors_bytes(
      "{" + testing::tensor_json("model.embed_tokens.weight", dtype, embedding_shape, 0, 24) + "," +
          testing::tensor_json("extra", "U8", "[4]", 24, 28) + "}",
      std::string(28, '\0'));
}

std::string error_opening(const std::string& path) {
  return error_of([&] { open_model(path); });
}

}  // namespace

TEST_CASE("both formats of a model have the same hyperparameters") {
  for (const std::string name : kModels) {
    INFO(name);
    const auto gguf = open_model(fixture_path(name + ".gguf")), folder = open_model(fixture_path(name));
    Hyperparameters a = gguf->hyperparameters(), b = folder->hyperparameters();
    CHECK(a.rope.pairing ==
          (a.architecture == Architecture::llama ? RopePairing::interleaved : RopePairing::half_split));
    CHECK(b.rope.pairing == RopePairing::half_split);
    a.rope.pairing = b.rope.pairing;
    if (b.rope.scaling == RopeScaling::llama3) {
      // GGUF has it worked out: a divisor for each frequency (Llama 3's formula, as transformers and
      // llama.cpp have it).
      CHECK(a.rope.scaling == RopeScaling::none);
      REQUIRE(a.rope.frequency_factors.size() == static_cast<size_t>(b.rope.dims / 2));
      for (int i = 0; i < b.rope.dims / 2; ++i) {
        const double wavelength = 2 * 3.14159265358979323846 * std::pow(b.rope.base, 2.0 * i / b.rope.dims);
        const double turns = b.rope.original_context_length / wavelength;  // within the original context
        const double smooth = std::clamp((turns - b.rope.low_frequency_factor) /
                                             (b.rope.high_frequency_factor - b.rope.low_frequency_factor),
                                         0.0, 1.0);
        const double expected = 1 / ((1 - smooth) / b.rope.factor + smooth);
        CHECK(a.rope.frequency_factors[static_cast<size_t>(i)] == Approx(expected).epsilon(1e-5));
      }
      const std::vector<float> factors = a.rope.frequency_factors;
      a.rope = b.rope;
    }
    CHECK(a == b);
    CHECK(a.model_name == b.model_name);
  }
}

TEST_CASE("both formats of a model have the same tensors") {
  for (const std::string name : kModels) {
    INFO(name);
    const auto gguf = open_model(fixture_path(name + ".gguf")), folder = open_model(fixture_path(name));
    CHECK(std::string(gguf->format()) == "gguf");
    CHECK(std::string(folder->format()) == "safetensors");
    CHECK(gguf->gguf() != nullptr);
    CHECK(folder->gguf() == nullptr);

    const auto names_of = [](const ModelFile& model) {
      const std::vector<std::string> names = model.tensor_names();
      std::set<std::string> set(names.begin(), names.end());
      CHECK(set.size() == names.size());
      set.erase("rope_freqs.weight");  // hyperparameters in the other format
      return set;
    };
    const std::set<std::string> names = names_of(*folder);
    CHECK(names == names_of(*gguf));
    const Hyperparameters& h = gguf->hyperparameters();
    CHECK(names.size() >= static_cast<size_t>(9 * h.layers + 2));
    for (const std::string& tensor : names) {
      INFO(tensor);
      const Tensor expected = to_f32(*folder->find(tensor));
      const bool reordered = h.architecture == Architecture::llama && is_query_or_key(tensor);
      const Tensor got =
          reordered ? undo_row_order(*gguf->find(tensor), h.head_dim) : to_f32(*gguf->find(tensor));
      CHECK(got.shape() == expected.shape());
      CHECK(compare_bits(floats(got), floats(expected)) == "");
      if (reordered) CHECK(compare_bits(floats(to_f32(*gguf->find(tensor))), floats(expected)) != "");
    }
  }
}

TEST_CASE("bfloat16 safetensors keep their type") {
  const auto model = open_model(fixture_path("llama-bf16"));
  CHECK(model->find("blk.0.attn_q.weight")->dtype() == DType::bf16);
  CHECK(model->find("output_norm.weight")->dtype() == DType::bf16);
}

TEST_CASE("models that exist only as GGUF open too") {
  for (const char* name : {"llama-q8_0.gguf", "llama-mixed.gguf"}) {
    const auto model = open_model(fixture_path(name));
    CHECK(model->hyperparameters().layers == 2);
    CHECK(model->tensor("token_embd.weight", Shape{512, model->hyperparameters().hidden}).elements() > 0);
  }
}

TEST_CASE("a tensor is asked for by name and shape, and both are named when they are wrong") {
  const auto folder = open_model(fixture_path("qwen2-untied")),
             gguf = open_model(fixture_path("qwen2-untied.gguf"));
  CHECK(folder->tensor("output.weight", Shape{512, 64}).shape() == Shape{512, 64});
  CHECK(folder->find("no.such") == nullptr);
  CHECK(folder->find("model.norm.weight") == nullptr);  // only canonical names count
  CHECK(complaint(error_of([&] {
                    folder->tensor("blk.9.attn_q.weight", Shape{64, 64});
                  }),
                  {"qwen2-untied", "\"blk.9.attn_q.weight\"", "model.layers.9.self_attn.q_proj.weight",
                   "missing"}) == "");
  CHECK(complaint(error_of([&] {
                    gguf->tensor("blk.9.attn_q.weight", Shape{64, 64});
                  }),
                  {"qwen2-untied.gguf", "\"blk.9.attn_q.weight\"", "missing"}) == "");
  CHECK(complaint(error_of([&] {
                    folder->tensor("output.weight", Shape{512, 65});
                  }),
                  {"\"output.weight\"", "lm_head.weight", "[512, 64]", "[512, 65]"}) == "");
  CHECK(folder->stored_name("blk.1.ffn_up.weight") == "model.layers.1.mlp.up_proj.weight");
  CHECK(gguf->stored_name("blk.1.ffn_up.weight") == "blk.1.ffn_up.weight");
}

TEST_CASE("a safetensors file in a model's folder opens the model") {
  const auto whole = open_model(fixture_path("qwen3") + "/model.safetensors");
  CHECK(whole->hyperparameters() == open_model(fixture_path("qwen3"))->hyperparameters());
  const auto shard = open_model(fixture_path("qwen2-untied") + "/model-00002-of-00003.safetensors");
  CHECK(shard->tensor_names() == open_model(fixture_path("qwen2-untied"))->tensor_names());
  CHECK(whole->path() == fixture_path("qwen3"));
  CHECK(shard->path() == fixture_path("qwen2-untied"));
  CHECK(open_model(fixture_path("qwen3") + "/")->hyperparameters().model_name == "qwen3");
}

TEST_CASE("what is no model is refused with what would be one") {
  const TemporaryFolder folder;
  CHECK(complaint(error_opening(folder.path() + "/none"), {"none", "No such file"}) == "");
  CHECK(complaint(error_opening(folder.path() + "/none.gguf"), {"none.gguf", "No such file"}) == "");
  CHECK(complaint(error_opening(folder.path()), {folder.path(), "no *.safetensors"}) == "");
  CHECK(complaint(error_opening(folder.write("text.bin", "hello")),
                  {"text.bin", "neither", "GGUF", "safetensors"}) == "");
  CHECK(complaint(error_opening(folder.write("empty.bin", "")), {"empty.bin", "neither"}) == "");
  CHECK(complaint(error_opening(folder.write("text.gguf", "hello")), {"text.gguf", "offset 0"}) == "");
  CHECK(complaint(error_opening(folder.write("model.bin", "GGUF")), {"model.bin", "version"}) == "");
}

TEST_CASE("a folder whose parts contradict each other is refused") {
  const auto error_with = [](const std::string& config, const std::string& weights) {
    const TemporaryFolder folder;
    if (!config.empty()) folder.write("config.json", config);
    folder.write("model.safetensors", weights);
    return error_opening(folder.path());
  };
  const std::string config = kConfig;
  CHECK(error_with(config, tiny_weights()) == "(no error)");
  CHECK(complaint(error_with("", tiny_weights()), {"config.json", "missing"}) == "");
  CHECK(complaint(error_with(config, testing::safetensors_of({"a"})),
                  {"token_embd.weight", "model.embed_tokens.weight", "missing"}) == "");
  CHECK(complaint(error_with(config, tiny_weights("F32", "[2,3]")),
                  {"token_embd.weight", "[2, 3]", "[3, 2]"}) == "");
  CHECK(complaint(error_with(config, tiny_weights("I32")),
                  {"model.embed_tokens.weight", "I32", "F32, F16 or BF16"}) == "");
  const std::string untied = config.substr(0, config.find(",\"tie_word")) + "}";
  CHECK(complaint(error_with(untied, tiny_weights()),
                  {"output.weight", "lm_head.weight", "tie_word_embeddings"}) == "");
}

TEST_CASE("a tensor that Rung has no name for is listed and refused only when it is read") {
  const TemporaryFolder folder;
  folder.write("config.json", kConfig);
  folder.write("model.safetensors", tiny_weights());
  const auto model = open_model(folder.path());
  CHECK(model->tensor_names() == std::vector<std::string>{"token_embd.weight", "extra"});
  CHECK(complaint(error_of([&] { model->find("extra"); }), {"\"extra\"", "U8"}) == "");
}

}  // namespace rung
