// Greedy text against what transformers generates, where a generation ends, and what sampling adds.
#include "engine/generate.h"

#include <atomic>
#include <cmath>
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
  KvCache cache(transformer.device(), transformer.hyperparameters(), transformer.max_tokens(), DType::f32);
  Engine<Device> engine(transformer, cache, model.tokenizer);
  const Generation result = generate(engine, request, [&](std::string_view text) { streamed += text; });
  CHECK(streamed == result.text);
  return result;
}

GenerationRequest greedy(const std::vector<int32_t>& prompt_ids, int64_t max_tokens, bool ignore_eos) {
  GenerationRequest request;
  request.prompt_ids = prompt_ids;
  request.max_tokens = max_tokens;
  request.ignore_eos = ignore_eos;
  request.sampling.temperature = 0;
  return request;
}

TEMPLATE_TEST_CASE("generate: greedy text of the fixtures", "", Cpu, Cuda) {
  TestType device;
  // The emulator takes its time.
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
  // 7 tokens and two of the three new ones fill the cache; the last needs no space of its own.
  const Generation full = run(transformer, model, greedy(ids, 100, true));
  CHECK(full.output_ids.size() == 3);
  CHECK(full.finish_reason == FinishReason::length);
  CHECK_THROWS_WITH(run(transformer, model, greedy(std::vector<int32_t>(10, 1), 1, true)),
                    Catch::Contains("10 tokens") && Catch::Contains("9"));
  CHECK_THROWS_WITH(run(transformer, model, greedy({}, 1, true)), Catch::Contains("empty"));
}

// A fixture that generates ")der than than ladder…" greedily.
struct Greedy {
  Cpu device{2};
  Model model{testing::fixture_path("llama-untied.gguf")};
  Transformer<Cpu> transformer{device, model.file, 64};
  Reference::Prompt prompt = Reference("llama-untied").prompt("text0");
  Generation run_until(std::vector<std::string> stop) {
    GenerationRequest request = greedy(prompt.ids, 24, true);
    request.stop = std::move(stop);
    return run(transformer, model, request);
  }
};

TEST_CASE("generate: a stop string ends the answer and nothing of it comes out") {
  Greedy greedy;
  const std::string whole = greedy.run_until({}).text;  // ")der than than ladder…"
  REQUIRE(whole.substr(0, 21) == ")der than than ladder");
  for (const std::string stop :
       {")", ")d", "der than", "than", " than ladd", "ladder", "wit", "\u043e", "\u6c34"}) {
    const size_t at = whole.find(stop);
    REQUIRE(at != std::string::npos);
    const Generation result = greedy.run_until({stop});
    CAPTURE(stop);
    CHECK(result.text == whole.substr(0, at));
    CHECK(result.finish_reason == FinishReason::stop);
    CHECK(result.output_ids.size() < 24);
    // The ids up to and with the token that completed the string, and no more.
    CHECK(greedy.model.tokenizer.decode(result.output_ids).find(stop) != std::string::npos);
    std::vector<int32_t> one_less = result.output_ids;
    one_less.pop_back();
    CHECK(greedy.model.tokenizer.decode(one_less).find(stop) == std::string::npos);
  }
  const Generation without = greedy.run_until({"this never comes", "than than than"});
  CHECK(without.text == whole);
  CHECK(without.finish_reason == FinishReason::length);
  CHECK(greedy.run_until({"ladder", "than"}).text == ")der ");
  CHECK_THROWS_WITH(greedy.run_until({""}), Catch::Contains("stop"));
}

TEST_CASE("generate: log-probabilities of the chosen tokens are those of transformers' logits") {
  Cpu device(2);
  const Reference reference("qwen3");
  const Reference::Prompt& prompt = reference.prompt("len7");
  const Model model(testing::fixture_path("qwen3.gguf"));
  Transformer<Cpu> transformer(device, model.file, 64);
  GenerationRequest request = greedy(prompt.ids, 24, true);
  CHECK(run(transformer, model, request).log_probabilities.empty());
  request.log_probabilities = true;
  const Generation result = run(transformer, model, request);
  CHECK(testing::compare(result.output_ids, prompt.output_ids) == "");
  REQUIRE(result.log_probabilities.size() == 24);
  const Span<const float> logits = reference.array("len7/decode_logits");
  for (size_t i = 0; i < 24; ++i) {
    double sum = 0;
    for (size_t t = 0; t < 512; ++t) sum += std::exp(static_cast<double>(logits[i * 512 + t]));
    const double expected = logits[i * 512 + static_cast<size_t>(prompt.output_ids[i])] - std::log(sum);
    CHECK(std::abs(result.log_probabilities[i] - expected) < 2e-4);
  }
}

TEMPLATE_TEST_CASE("generate: a seed names a text", "", Cpu, Cuda) {
  TestType device;
  const Model model(testing::fixture_path("llama-rope3.gguf"));
  Transformer<TestType> transformer(device, model.file, 32);
  GenerationRequest request = greedy(Reference("llama-rope3").prompt("len2").ids, 4, true);
  request.sampling.temperature = 5;
  const auto with_seed = [&](uint64_t seed) {
    request.sampling.seed = seed;
    return run(transformer, model, request).output_ids;
  };
  const std::vector<int32_t> one = with_seed(1), two = with_seed(2);
  CHECK(one == with_seed(1));
  CHECK(one != two);
  request.sampling.top_p = 0;
  CHECK_THROWS_WITH(with_seed(1), Catch::Contains("top_p"));
}

TEST_CASE("generate: a cancelled generation keeps what there is") {
  Cpu device(2);
  const Model model(testing::fixture_path("qwen3.gguf"));
  Transformer<Cpu> transformer(device, model.file, 64);
  KvCache cache(device, transformer.hyperparameters(), 64, DType::f32);
  Engine<Cpu> engine(transformer, cache, model.tokenizer);
  std::atomic<bool> cancelled{false};
  GenerationRequest request = greedy(Reference("qwen3").prompt("text0").ids, 24, true);
  request.cancelled = &cancelled;
  std::string seen;
  const Generation result = generate(engine, request, [&](std::string_view text) {
    seen += text;
    if (seen.size() > 4) cancelled = true;
  });
  CHECK(result.finish_reason == FinishReason::aborted);
  CHECK(std::string(name(result.finish_reason)) == "aborted");
  CHECK(result.text.substr(0, seen.size()) == seen);
  CHECK(!result.output_ids.empty());
  CHECK(result.output_ids.size() < 24);
  const Generation none = generate(engine, request, [](std::string_view) {});
  CHECK(none.output_ids.empty());
  CHECK(none.finish_reason == FinishReason::aborted);
}

TEST_CASE("generate: full blocks that a prompt begins with are not computed again") {
  Cpu device(2);
  const Reference reference("qwen3");
  const Reference::Prompt& prompt = reference.prompt("len17");
  const Model model(testing::fixture_path("qwen3.gguf"));
  Transformer<Cpu> transformer(device, model.file, 64);
  KvCache cache(device, transformer.hyperparameters(), 64, DType::f32, KvBlocks{16, 4});
  Engine<Cpu> engine(transformer, cache, model.tokenizer);
  const auto answer = [&](const std::vector<int32_t>& ids) {
    return generate(engine, greedy(ids, 24, true), [](std::string_view) {});
  };
  std::vector<int32_t> other = prompt.ids;
  other[9] += 1;
  CHECK(answer(prompt.ids).cached_tokens == 0);
  CHECK(engine.figures().computed == 17 + 23);
  const Generation again = answer(prompt.ids);
  CHECK(again.cached_tokens == 16);  // the last token's logits are wanted
  CHECK(again.output_ids == prompt.output_ids);
  CHECK(answer(other).cached_tokens == 8);
  const Generation back = answer(prompt.ids);
  CHECK(back.cached_tokens == 16);  // both continuations of the first eight tokens are there
  CHECK(back.output_ids == prompt.output_ids);
  std::vector<int32_t> longer = prompt.ids;
  longer.insert(longer.end(), prompt.output_ids.begin(), prompt.output_ids.begin() + 5);
  const Generation rest = answer(longer);
  CHECK(rest.cached_tokens == 20);
  CHECK(std::equal(rest.output_ids.begin(), rest.output_ids.begin() + 19, prompt.output_ids.begin() + 5));
}

TEST_CASE("generate: the six reference prompts of the default model", "[model][slow]") {
  Cpu device;
  const Model model(testing::default_model_path());
  Transformer<Cpu> transformer(device, model.file, 80);
  for (const testing::GreedyCase& example : testing::default_model_cases()) {
    CAPTURE(example.prompt);
    CHECK(testing::compare(model.tokenizer.encode(example.prompt), example.ids) == "");
    std::vector<int32_t> expected = example.output_ids;
    if (expected.size() == 32) expected.resize(8);  // no end token to come
    const auto tokens = static_cast<int64_t>(expected.size());
    const Generation result = run(transformer, model, greedy(example.ids, tokens, false));
    CHECK(testing::compare(result.output_ids, expected) == "");
    CHECK(example.text.substr(0, result.text.size()) == result.text);
    const bool ended = model.tokenizer.is_end(expected.back());
    CHECK(result.finish_reason == (ended ? FinishReason::stop : FinishReason::length));
  }
}

TEST_CASE("generate: a reference prompt of the default model on Cuda", "[model][slow]") {
  Cuda device;
  const Model model(testing::default_model_path());
  Transformer<Cuda> transformer(device, model.file, 80);
  const testing::GreedyCase example = testing::default_model_cases()[2];
  REQUIRE(example.ids.size() >= 8);
  std::vector<int32_t> expected = example.output_ids;
  expected.resize(4);
  CHECK(testing::compare(run(transformer, model, greedy(example.ids, 4, false)).output_ids, expected) == "");
}

}  // namespace
}  // namespace rung
