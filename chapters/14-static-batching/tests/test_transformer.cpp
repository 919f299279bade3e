// Whole fixture models against the logits that transformers computed in float32, in both file formats.
#include <algorithm>
#include <numeric>

#include "model/transformer.h"
#include "rung/error.h"
#include "testing/catch.h"
#include "testing/compare.h"
#include "testing/fixture.h"
#include "testing/reference.h"

namespace rung {
namespace {

using Reference = testing::ModelReference;

struct Fixture {
  const char *file, *reference;
  double tolerance, cuda_tolerance;  // of logits, relative to the largest
};

// float32 weights, and weights whose stored values the reference was computed from: the same arithmetic in
// another order.
constexpr Fixture kFixtures[] = {
    {"llama-rope3.gguf", "llama-rope3", 1e-4, 1e-4},
    {"llama-rope3", "llama-rope3", 1e-4, 1e-4},
    {"llama-untied.gguf", "llama-untied", 1e-4, 1e-4},
    {"llama-untied", "llama-untied", 1e-4, 1e-4},
    {"llama-linear.gguf", "llama-linear", 1e-4, 1e-4},
    {"llama-linear", "llama-linear", 1e-4, 1e-4},
    {"qwen2-bias.gguf", "qwen2-bias", 1e-4, 1e-4},
    {"qwen2-bias", "qwen2-bias", 1e-4, 1e-4},
    {"qwen2-untied.gguf", "qwen2-untied", 1e-4, 1e-4},
    {"qwen2-untied", "qwen2-untied", 1e-4, 1e-4},
    {"qwen3.gguf", "qwen3", 1e-4, 1e-4},
    {"qwen3", "qwen3", 1e-4, 1e-4},
    {"llama-q8_0.gguf", "llama-q8_0", 1e-4, 1e-4},
    // Its F16 matrices take their activations in F16 on CUDA: 2^-11 relative rounding of each, averaged over
    // sums.
    {"llama-mixed.gguf", "llama-mixed", 1e-4, 1e-3},
};

std::vector<float> logits(Transformer<Cpu>& transformer, const Batch& batch) {
  KvCache cache(transformer.device(), transformer.hyperparameters(), batch.tokens(), DType::f32);
  const Tensor result = transformer.forward(batch, cache);
  return {result.data<float>(), result.data<float>() + result.elements()};
}

template <class Device>
std::vector<float> last_logits(Transformer<Device>& transformer, const std::vector<int32_t>& ids) {
  const auto tokens = static_cast<int64_t>(ids.size());
  KvCache cache(transformer.device(), transformer.hyperparameters(), tokens, DType::f32);
  const Tensor result =
      download(transformer.device(), transformer.forward(part_of_sequence(ids, 0, tokens), cache));
  return {result.template data<float>(), result.template data<float>() + result.elements()};
}

TEST_CASE("transformer: last logits of every fixture on Cpu") {
  Cpu device(2);
  for (const Fixture& fixture : kFixtures) {
    const Reference reference(fixture.reference);
    Transformer<Cpu> transformer(device, open_model(testing::fixture_path(fixture.file)), 400);
    for (const Reference::Prompt& prompt : reference.prompts()) {
      CAPTURE(fixture.file, prompt.name);
      CHECK(testing::relative_error(last_logits(transformer, prompt.ids),
                                    reference.array(prompt.name + "/last_logits")) <= fixture.tolerance);
    }
  }
}

TEST_CASE("transformer: last logits of every fixture on Cuda") {
  Cuda device;
  for (const Fixture& fixture : kFixtures) {
    const Reference reference(fixture.reference);
    Transformer<Cuda> transformer(device, open_model(testing::fixture_path(fixture.file)), 400);
    for (const char* name : {"len1", "len2", "len7", "len17"}) {
      const Reference::Prompt& prompt = reference.prompt(name);
      CAPTURE(fixture.file, prompt.name);
      CHECK(testing::relative_error(last_logits(transformer, prompt.ids),
                                    reference.array(prompt.name + "/last_logits")) <= fixture.cuda_tolerance);
    }
  }
}

TEST_CASE("transformer: bf16 weights, exact on Cpu, with bf16 activations in products on Cuda") {
  const Reference reference("llama-bf16");
  const Reference::Prompt& prompt = reference.prompt("len17");
  const Span<const float> expected = reference.array("len17/last_logits");
  for (const char* file : {"llama-bf16.gguf", "llama-bf16"}) {
    CAPTURE(file);
    Cpu cpu(2);
    Transformer<Cpu> on_cpu(cpu, open_model(testing::fixture_path(file)), 64);
    CHECK(testing::relative_error(last_logits(on_cpu, prompt.ids), expected) <= 1e-4);
    // 2^-9 relative rounding of each activation, averaged over sums of 64: about 1 % of the largest logit.
    Cuda cuda;
    Transformer<Cuda> on_cuda(cuda, open_model(testing::fixture_path(file)), 64);
    CHECK(testing::relative_error(last_logits(on_cuda, prompt.ids), expected) <= 2e-2);
  }
}

TEST_CASE("transformer: logits for the rows asked for, in the order asked for") {
  Cpu device(2);
  const Reference reference("qwen3");
  Transformer<Cpu> transformer(device, open_model(testing::fixture_path("qwen3.gguf")), 32, 32);
  Batch batch = part_of_sequence(reference.prompt("len7").ids, 0, 7);
  batch.logit_rows = {0, 1, 2, 3, 4, 5, 6};
  const std::vector<float> all = logits(transformer, batch);
  CHECK(testing::relative_error(all, reference.array("len7/logits")) <= 1e-4);
  batch.logit_rows = {5, 2};
  const std::vector<float> two = logits(transformer, batch);
  const std::vector<float> row5(all.begin() + 5 * 512, all.begin() + 6 * 512),
      row2(all.begin() + 2 * 512, all.begin() + 3 * 512);
  CHECK(testing::compare_bits(Span<const float>(two.data(), 512), row5) == "");
  CHECK(testing::compare_bits(Span<const float>(two.data() + 512, 512), row2) == "");
}

TEST_CASE("transformer: the same bits for any number of threads") {
  const Reference reference("llama-rope3");
  const std::vector<int32_t>& ids = reference.prompt("len40").ids;
  std::vector<float> first;
  for (const int threads : {1, 2, 3, 7}) {
    Cpu device(threads);
    Transformer<Cpu> transformer(device, open_model(testing::fixture_path("llama-rope3.gguf")), 64);
    const std::vector<float> result = last_logits(transformer, ids);
    if (first.empty()) first = result;
    CAPTURE(threads);
    CHECK(testing::compare_bits(result, first) == "");
  }
}

TEST_CASE("transformer: a pass that does not fit and ids outside the vocabulary are refused") {
  Cpu device(1);
  Transformer<Cpu> transformer(device, open_model(testing::fixture_path("qwen3.gguf")), 4);
  CHECK_THROWS_WITH(last_logits(transformer, {1, 2, 3, 4, 5}),
                    Catch::Contains("5 tokens") && Catch::Contains("1 to 4"));
  CHECK_THROWS_WITH(last_logits(transformer, {1, 512}), Catch::Contains("512"));
  CHECK_THROWS_WITH(last_logits(transformer, {-1}), Catch::Contains("-1"));
  CHECK_NOTHROW(last_logits(transformer, {511}));
}

TEST_CASE("transformer: memory is counted before it is taken") {
  Cpu device(1);
  const std::shared_ptr<const ModelFile> model = open_model(testing::fixture_path("qwen3.gguf"));
  const Hyperparameters& h = model->hyperparameters();
  const Activations a = allocate_activations(device, h, 5, 3);
  uint64_t bytes = 0;
  for (const Tensor* tensor :
       {&a.residual, &a.normed, &a.q, &a.k, &a.v, &a.attended, &a.gate, &a.up, &a.block_output, &a.last,
        &a.last_normed, &a.logits}) {
    bytes += tensor->bytes();
  }
  CHECK(activation_bytes(h, 5, 3) == bytes);
  CHECK_THROWS_WITH(load_weights(device, *model, WeightType::stored, uint64_t{1} << 60),
                    Catch::Contains("not enough memory") && Catch::Contains(model->path()) &&
                        Catch::Contains("1048576.0 TiB needed"));
}

TEST_CASE("transformer: the default model's first logits", "[model][slow]") {
  Cpu device(2);
  Transformer<Cpu> transformer(device, open_model(testing::default_model_path()), 64);
  for (const testing::GreedyCase& example : testing::default_model_cases()) {
    CAPTURE(example.prompt);
    const std::vector<float> row = last_logits(transformer, example.ids);
    const auto largest = std::max_element(row.begin(), row.end());
    CHECK(largest - row.begin() == example.first_top5[0].first);
    for (const auto& [id, logit] : example.first_top5) CHECK(std::abs(row[id] - logit) <= 2e-3);
  }
}

}  // namespace
}  // namespace rung
