// Greedy text against what transformers generates, and where a generation ends.
#include "engine/generate.h"

#include <type_traits>

#include "testing/catch.h"
#include "testing/compare.h"
#include "testing/fixture.h"
#include "testing/reference.h"

namespace rung {
namespace {

using Reference = testing::ModelReference;

struct Model {
  std::shared_ptr<const ModelFile> file;
  Tokenizer tokenizer;
  explicit Model(const std::string& path) : file(open_model(path)), tokenizer(load_tokenizer(*file)) {}
};

template <class Device>
Generation run(Transformer<Device>& transformer, const Model& model, GenerationRequest request) {
  std::string streamed;
  const Generation result =
      generate(transformer, model.tokenizer, request, [&](std::string_view text) { streamed += text; });
  CHECK(streamed == result.text);
  return result;
}

GenerationRequest greedy(const std::vector<int32_t>& prompt_ids, int64_t max_tokens, bool ignore_eos) {
  GenerationRequest request;
  request.prompt_ids = prompt_ids;
  request.max_tokens = max_tokens;
  request.ignore_eos = ignore_eos;
  return request;
}

TEMPLATE_TEST_CASE("generate: greedy text of the fixtures", "", Cpu, Cuda) {
  TestType device;
  // The emulator takes its time, and without a cache each token costs a whole pass.
  constexpr bool kThorough = std::is_same_v<TestType, Cpu>;
  for (const std::string name : {"llama-rope3", "llama-untied", "qwen2-bias", "qwen3"}) {
    for (const std::string suffix : {"", ".gguf"}) {
      if (!kThorough && suffix.empty()) continue;
      const Reference reference(name);
      const Model model(testing::fixture_path(name + suffix));
      Transformer<TestType> transformer(device, model.file, 128);
      for (const char* prompt_name : {"len2", "len17"}) {
        if (!kThorough && prompt_name == std::string("len17")) continue;
        const Reference::Prompt& prompt = reference.prompt(prompt_name);
        std::vector<int32_t> expected = prompt.output_ids;
        if (!kThorough) expected.resize(8);
        CAPTURE(name, suffix, prompt_name);
        CHECK(testing::compare(
                  run(transformer, model, greedy(prompt.ids, static_cast<int64_t>(expected.size()), true))
                      .output_ids,
                  expected) == "");
      }
    }
  }
}

TEST_CASE("generate: max_tokens 0 and 1, a full context, a prompt that does not fit") {
  Cpu device(2);
  const Model model(testing::fixture_path("qwen3.gguf"));
  const std::vector<int32_t> ids = Reference("qwen3").prompt("len7").ids;
  Transformer<Cpu> transformer(device, model.file, 9);
  CHECK(run(transformer, model, greedy(ids, 0, true)).output_ids.empty());
  CHECK(run(transformer, model, greedy(ids, 1, true)).output_ids.size() == 1);
  // Passes of 7, 8 and 9 tokens give three; the last needs no space of its own.
  const Generation full = run(transformer, model, greedy(ids, 100, true));
  CHECK(full.output_ids.size() == 3);
  CHECK(full.finish_reason == FinishReason::length);
  CHECK_THROWS_WITH(run(transformer, model, greedy(std::vector<int32_t>(10, 1), 1, true)),
                    Catch::Contains("10 tokens") && Catch::Contains("9"));
  CHECK_THROWS_WITH(run(transformer, model, greedy({}, 1, true)), Catch::Contains("empty"));
}

TEST_CASE("generate: the first tokens of six reference prompts of the default model", "[model][slow]") {
  Cpu device;
  const Model model(testing::default_model_path());
  Transformer<Cpu> transformer(device, model.file, 80);
  for (const testing::GreedyCase& example : testing::default_model_cases()) {
    CAPTURE(example.prompt);
    CHECK(testing::compare(model.tokenizer.encode(example.prompt), example.ids) == "");
    std::vector<int32_t> expected = example.output_ids;
    expected.resize(example.ids.size() < 10 ? 4 : 2);  // without a cache each token costs a whole pass
    const Generation result =
        run(transformer, model, greedy(example.ids, static_cast<int64_t>(expected.size()), false));
    CHECK(testing::compare(result.output_ids, expected) == "");
    CHECK(!result.text.empty());
    CHECK(example.text.substr(0, result.text.size()) == result.text);
  }
}

}  // namespace
}  // namespace rung
