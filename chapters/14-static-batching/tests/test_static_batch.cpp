// Answers in lock-step: those that transformers gives, the same alone and in any company, each ending for its
// own reason, and what the padding costs.
#include "engine/static_batch.h"

#include <algorithm>
#include <atomic>
#include <numeric>

#include "testing/catch.h"
#include "testing/compare.h"
#include "testing/fixture.h"
#include "testing/reference.h"

namespace rung {
namespace {

using Reference = testing::ModelReference;

GenerationRequest greedy(const std::vector<int32_t>& prompt_ids, int64_t max_tokens) {
  GenerationRequest request;
  request.prompt_ids = prompt_ids;
  request.max_tokens = max_tokens;
  request.ignore_eos = true;
  request.sampling.temperature = 0;
  return request;
}

GenerationRequest sampled(GenerationRequest request, uint64_t seed) {
  request.sampling.temperature = 2;
  request.sampling.seed = seed;
  return request;
}

// A fixture with space for batches of `rows`.
template <class Device>
struct Model {
  Device device;
  std::shared_ptr<const ModelFile> file;
  Tokenizer tokenizer;
  Reference reference;
  Transformer<Device> transformer;
  KvCache cache;
  BatchFigures figures;

  explicit Model(const std::string& fixture, int64_t rows, int64_t context = 100, int64_t pass = 128)
      : file(open_model(testing::fixture_path(fixture + ".gguf"))),
        tokenizer(load_tokenizer(*file)),
        reference(fixture),
        transformer(device, file, pass, rows),
        cache(device, file->hyperparameters(), context, DType::f32, rows) {}

  std::vector<Generation> run(const std::vector<GenerationRequest>& requests) {
    figures = BatchFigures();
    return generate_batch(transformer, cache, tokenizer, requests, figures);
  }
};

// Different lengths of prompts and answers, greedy and sampled.
std::vector<GenerationRequest> mix(const Reference& reference, size_t count, int64_t most_tokens) {
  std::vector<GenerationRequest> requests;
  for (size_t i = 0; i < count; ++i) {
    const char* prompts[] = {"len7", "len1", "len40", "len2", "len17"};
    std::vector<int32_t> ids = reference.prompt(prompts[i % 5]).ids;
    ids[0] = static_cast<int32_t>(5 + i);  // no two alike
    GenerationRequest request = greedy(ids, 1 + static_cast<int64_t>(i * 5) % most_tokens);
    requests.push_back(i % 3 == 2 ? sampled(request, i) : request);
  }
  return requests;
}

TEMPLATE_TEST_CASE("static batch: greedy text of the fixtures, all prompts in one batch", "", Cpu, Cuda) {
  constexpr bool kThorough = std::is_same_v<TestType, Cpu>;  // the emulator takes its time
  for (const char* fixture : {"llama-rope3", "qwen2-bias", "qwen3"}) {
    if (!kThorough && fixture != std::string("qwen3")) continue;
    Model<TestType> model(fixture, 4);
    std::vector<GenerationRequest> requests;
    std::vector<std::vector<int32_t>> expected;
    for (const char* name : {"len7", "len2", "len17", "len1"}) {
      const Reference::Prompt& prompt = model.reference.prompt(name);
      expected.push_back(prompt.output_ids);
      if (!kThorough) expected.back().resize(4);
      requests.push_back(greedy(prompt.ids, static_cast<int64_t>(expected.back().size())));
    }
    const std::vector<Generation> results = model.run(requests);
    for (size_t i = 0; i < requests.size(); ++i) {
      CAPTURE(fixture, i);
      CHECK(testing::compare(results[i].output_ids, expected[i]) == "");
      CHECK(results[i].finish_reason == FinishReason::length);
    }
  }
}

// Greedy and seeded answers are those of the request alone, in batches of every size and in any order.
template <class Device>
void check_independence(size_t requests_in_all, const std::vector<size_t>& sizes, int64_t most_tokens) {
  Model<Device> model("llama-rope3", 33);
  const std::vector<GenerationRequest> requests = mix(model.reference, requests_in_all, most_tokens);
  std::vector<Generation> alone;
  for (const GenerationRequest& request : requests) alone.push_back(model.run({request})[0]);
  std::vector<size_t> order(requests.size());
  std::iota(order.begin(), order.end(), 0);
  for (const size_t size : sizes) {
    for (size_t begin = 0; begin < order.size(); begin += size) {
      const size_t end = std::min(begin + size, order.size());
      std::vector<GenerationRequest> batch;
      for (size_t i = begin; i < end; ++i) batch.push_back(requests[order[i]]);
      const std::vector<Generation> results = model.run(batch);
      for (size_t i = begin; i < end; ++i) {
        CAPTURE(size, order[i]);
        REQUIRE(results[i - begin].output_ids == alone[order[i]].output_ids);
        REQUIRE(results[i - begin].text == alone[order[i]].text);
      }
    }
    std::reverse(order.begin(), order.end());
    std::rotate(order.begin(), order.begin() + 1, order.end());
  }
}

TEST_CASE("static batch: answers do not depend on the batch on Cpu") {
  check_independence<Cpu>(33, {2, 8, 33}, 8);
}

TEST_CASE("static batch: answers do not depend on the batch on emulated Cuda", "[emulated]") {
  if (kCudaEmulated) check_independence<Cuda>(8, {2, 8}, 3);
}

TEST_CASE(
    "static batch: the first token of each answer, behind a padded prefill in one pass and in several") {
  for (const int64_t pass : {128, 120, 10}) {  // all 40 columns of three prompts at once, or 3 of them
    Model<Cpu> model("qwen3", 3, 100, pass), alone("qwen3", 1);
    std::vector<GenerationRequest> requests;
    for (const char* name : {"len7", "len40", "len1"}) {
      requests.push_back(greedy(model.reference.prompt(name).ids, 1));
      requests.back().log_probabilities = true;
    }
    const std::vector<Generation> results = model.run(requests);
    const char* names[] = {"len7", "len40", "len1"};
    for (size_t i = 0; i < 3; ++i) {
      INFO(names[i] << " in passes of " << pass / 3 << " columns");
      CHECK(testing::compare(results[i].output_ids,
                             {model.reference.prompt(names[i]).output_ids.data(), 1}) == "");
      CHECK(results[i].log_probabilities == alone.run({requests[i]})[0].log_probabilities);
    }
    CHECK(model.figures.computed == 3 * 40);
    CHECK(model.figures.useful == 7 + 40 + 1);
    CHECK(model.figures.passes == (40 + pass / 3 - 1) / (pass / 3));
  }
}

TEST_CASE("static batch: prompts are padded, and ended answers computed on") {
  // Alone: 17 + 3 - 1 tokens. Together: both prompts as 17 columns, then 7 steps of two rows.
  Model<Cpu> model("qwen3", 2);
  const auto prompt = [&](const char* name, int64_t tokens) {
    return greedy(model.reference.prompt(name).ids, tokens);
  };
  model.run({prompt("len17", 3)});
  CHECK(model.figures.computed == 19);
  CHECK(model.figures.useful == 19);
  CHECK(model.figures.passes == 3);
  model.run({prompt("len17", 3), prompt("len7", 8)});
  CHECK(model.figures.computed == 2 * 17 + 2 * 7);
  CHECK(model.figures.useful == 17 + 2 + 7 + 7);
  CHECK(model.figures.passes == 8);
}

TEST_CASE("static batch: a padded prefill in several passes gives the same answers") {
  Model<Cpu> whole("qwen3", 3), cut("qwen3", 3, 100, 10);  // passes of 3 columns
  std::vector<GenerationRequest> requests;
  for (const char* name : {"len7", "len40", "len1"})
    requests.push_back(greedy(whole.reference.prompt(name).ids, 6));
  const std::vector<Generation> expected = whole.run(requests), got = cut.run(requests);
  CHECK(cut.figures.passes == 14 + 5);
  for (size_t i = 0; i < 3; ++i) CHECK(got[i].output_ids == expected[i].output_ids);
  requests.resize(3);
  Model<Cpu> narrow("qwen3", 3, 100, 2);
  CHECK_THROWS_WITH(narrow.run(requests), Catch::Contains("3 requests") && Catch::Contains("2 tokens"));
}

TEST_CASE("static batch: each answer ends for its own reason") {
  Model<Cpu> model("llama-untied", 9, 42);
  const Reference::Prompt &text1 = model.reference.prompt("text1"), &len40 = model.reference.prompt("len40"),
                          &len7 = model.reference.prompt("len7");
  const Generation whole = model.run({greedy(text1.ids, 24)})[0];
  std::vector<GenerationRequest> requests = {
      greedy(text1.ids, 24),                   // 0: ends with the model's end token
      greedy(text1.ids, 24),                   // 1: at a stop string
      greedy(len40.ids, 24),                   // 2: the context is full
      greedy(len7.ids, 0),                     // 3: wants nothing
      greedy(len7.ids, 1),                     // 4
      greedy({}, 5),                           // 5: has no prompt
      greedy(std::vector<int32_t>(43, 5), 5),  // 6: too long
      greedy(len7.ids, 5),                     // 7: a parameter that is none
      greedy({5, 512}, 5),                     // 8: an id that is no token
  };
  requests[0].ignore_eos = false;
  requests[1].stop = {whole.text.substr(3, 4)};
  requests[7].sampling.top_p = 0;
  const std::vector<Generation> results = model.run(requests);
  const auto reason = [&](size_t i) { return std::string(name(results[i].finish_reason)); };
  CHECK(reason(0) == "stop");
  CHECK(model.tokenizer.is_end(results[0].output_ids.back()));
  CHECK(std::equal(results[0].output_ids.begin(), results[0].output_ids.end(), text1.output_ids.begin()));
  CHECK(reason(1) == "stop");
  CHECK(results[1].text == whole.text.substr(0, whole.text.find(requests[1].stop[0])));
  CHECK(reason(2) == "length");
  CHECK(results[2].output_ids ==
        std::vector<int32_t>(len40.output_ids.begin(), len40.output_ids.begin() + 3));
  CHECK(reason(3) == "length");
  CHECK(results[3].output_ids.empty());
  CHECK(results[4].output_ids == std::vector<int32_t>{len7.output_ids[0]});
  for (const size_t i : {5, 6, 7, 8}) {
    CHECK(reason(i) == "error");
    CHECK(results[i].output_ids.empty());
  }
  CHECK_THAT(results[5].error, Catch::Contains("prompt is empty"));
  CHECK_THAT(results[6].error, Catch::Contains("43 tokens") && Catch::Contains("space for 42"));
  CHECK_THAT(results[7].error, Catch::Contains("top_p"));
  CHECK_THAT(results[8].error, Catch::Contains("token 512") && Catch::Contains("0 to 511"));
}

TEST_CASE("static batch: an end token that comes first ends an answer of one token") {
  // The token that this model gives after len7 is not its end token: the seed is searched that draws it.
  Model<Cpu> model("llama-untied", 2);
  GenerationRequest request = greedy(model.reference.prompt("len7").ids, 6);
  request.ignore_eos = false;
  request.sampling.temperature = 100;  // nearly uniform over 512 tokens
  request.sampling.top_k = 0;
  request.sampling.top_p = 1;
  bool found = false;
  for (uint64_t seed = 0; seed < 3000 && !found; ++seed) {
    request.sampling.seed = seed;
    request.max_tokens = 1;
    if (!model.tokenizer.is_end(model.run({request})[0].output_ids[0])) continue;
    found = true;
    request.max_tokens = 6;
    const std::vector<Generation> results = model.run({request, greedy(request.prompt_ids, 6)});
    CHECK(results[0].output_ids.size() == 1);
    CHECK(results[0].finish_reason == FinishReason::stop);
    CHECK(results[0].text.empty());
    CHECK(std::equal(results[1].output_ids.begin(), results[1].output_ids.end(),
                     model.reference.prompt("len7").output_ids.begin()));
  }
  CHECK(found);
}

TEST_CASE("static batch: a cancelled request ends and the others go on") {
  Model<Cpu> model("qwen3", 2);
  std::atomic<bool> cancelled{true};
  std::vector<GenerationRequest> requests = {greedy(model.reference.prompt("len17").ids, 8),
                                             greedy(model.reference.prompt("len7").ids, 8)};
  requests[0].cancelled = &cancelled;
  const std::vector<Generation> results = model.run(requests);
  CHECK(results[0].finish_reason == FinishReason::aborted);
  CHECK(results[0].output_ids.empty());
  CHECK(std::equal(results[1].output_ids.begin(), results[1].output_ids.end(),
                   model.reference.prompt("len7").output_ids.begin()));
  CHECK_THROWS_WITH(model.run({requests[1], requests[1], requests[1]}),
                    Catch::Contains("3 requests") && Catch::Contains("2 rows"));
}

TEST_CASE("static batch: the reference prompts of the default model in one batch", "[model][slow]") {
  Cpu device;
  const std::shared_ptr<const ModelFile> file = open_model(testing::default_model_path());
  const Tokenizer tokenizer = load_tokenizer(*file);
  Transformer<Cpu> transformer(device, file, 256, 6);
  KvCache cache(device, file->hyperparameters(), 80, DType::f32, 6);
  std::vector<GenerationRequest> requests;
  const std::vector<testing::GreedyCase> cases = testing::default_model_cases();
  for (const testing::GreedyCase& example : cases) {
    requests.push_back(
        greedy(example.ids, std::min<int64_t>(8, static_cast<int64_t>(example.output_ids.size()))));
    requests.back().ignore_eos = false;
  }
  BatchFigures figures;
  const std::vector<Generation> results = generate_batch(transformer, cache, tokenizer, requests, figures);
  for (size_t i = 0; i < cases.size(); ++i) {
    CAPTURE(cases[i].prompt);
    CHECK(!results[i].output_ids.empty());
    CHECK(
        std::equal(results[i].output_ids.begin(), results[i].output_ids.end(), cases[i].output_ids.begin()));
  }
}

}  // namespace
}  // namespace rung
