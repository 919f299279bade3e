// The engine: answers that transformers gives, the same alone and in any company, whenever requests come and
// go, each ending for its own reason.
#include "engine/engine.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <numeric>
#include <random>

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

// A fixture with an engine for `rows` requests at once.
template <class Device>
struct Model {
  Device device;
  std::shared_ptr<const ModelFile> file;
  Tokenizer tokenizer;
  Reference reference;
  Transformer<Device> transformer;
  KvCache cache;
  Engine<Device> engine;

  explicit Model(const std::string& fixture, int64_t rows, int64_t context = 100, int64_t pass = 128)
      : file(open_model(testing::fixture_path(fixture + ".gguf"))),
        tokenizer(load_tokenizer(*file)),
        reference(fixture),
        transformer(device, file, pass, rows),
        cache(device, file->hyperparameters(), context, DType::f32, rows),
        engine(transformer, cache, tokenizer) {}

  // Takes one step; what has ended goes into results, the text of all into texts.
  void step() {
    for (RequestOutput& output : engine.step()) {
      texts[output.id] += output.text;
      if (!output.ended) continue;
      CHECK(texts[output.id] == output.result.text);
      CHECK(results.emplace(output.id, std::move(output.result)).second);
    }
  }
  // All requests at once, to their end; results in their order.
  std::vector<Generation> run(const std::vector<GenerationRequest>& requests) {
    std::vector<RequestId> ids;
    for (const GenerationRequest& request : requests) ids.push_back(engine.add(request));
    while (!engine.idle()) step();
    std::vector<Generation> in_order;
    for (const RequestId id : ids) in_order.push_back(results.at(id));
    return in_order;
  }

  std::map<RequestId, std::string> texts;
  std::map<RequestId, Generation> results;
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

TEMPLATE_TEST_CASE("engine: greedy text of the fixtures, all prompts at once", "", Cpu, Cuda) {
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

// Greedy and seeded answers are those of the request alone: with every number of rows, in any order, whenever
// they come, whatever the budget of a step.
template <class Device>
void check_independence(size_t requests_in_all,
                        const std::vector<std::pair<int64_t, int64_t>>& rows_and_steps, int64_t most_tokens) {
  Model<Device> lonely("llama-rope3", 1);
  const std::vector<GenerationRequest> requests = mix(lonely.reference, requests_in_all, most_tokens);
  std::vector<Generation> alone;
  for (const GenerationRequest& request : requests) alone.push_back(lonely.run({request})[0]);
  std::mt19937 random(5);
  for (const auto& [rows, step_tokens] : rows_and_steps) {
    Model<Device> model("llama-rope3", rows, 100, step_tokens);
    std::vector<size_t> order(requests.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    std::map<RequestId, size_t> request_of;
    for (size_t i = 0; i < order.size() || !model.engine.idle(); model.step()) {
      for (uint32_t arrivals = random() % 4; arrivals > 0 && i < order.size(); --arrivals, ++i)
        request_of[model.engine.add(requests[order[i]])] = order[i];
    }
    REQUIRE(model.results.size() == requests.size());
    for (const auto& [id, result] : model.results) {
      const size_t request = request_of.at(id);
      CAPTURE(rows, step_tokens, request);
      REQUIRE(result.output_ids == alone[request].output_ids);
      REQUIRE(result.text == alone[request].text);
    }
  }
}

TEST_CASE("engine: answers do not depend on what else runs on Cpu") {
  check_independence<Cpu>(33, {{2, 30}, {8, 8}, {33, 500}}, 8);
}

TEST_CASE("engine: answers do not depend on what else runs on emulated Cuda", "[emulated]") {
  if (kCudaEmulated) check_independence<Cuda>(8, {{2, 9}, {8, 64}}, 3);
}

TEST_CASE("engine: nothing is computed for nobody") {
  Model<Cpu> model("qwen3", 2);
  const auto prompt = [&](const char* name, int64_t tokens) {
    return greedy(model.reference.prompt(name).ids, tokens);
  };
  // Both prompts in the first step; the long answer goes on alone.
  model.run({prompt("len17", 3), prompt("len7", 8)});
  CHECK(model.engine.figures().computed == 17 + 2 + 7 + 7);
  CHECK(model.engine.figures().steps == 8);
}

TEST_CASE("engine: a request joins while others write, and takes the row of one that has left") {
  Model<Cpu> model("qwen3", 2);
  const Reference::Prompt &a = model.reference.prompt("len7"), &b = model.reference.prompt("len17"),
                          &c = model.reference.prompt("len2");
  const RequestId first = model.engine.add(greedy(a.ids, 24));
  model.step();
  const RequestId second = model.engine.add(greedy(b.ids, 2)), third = model.engine.add(greedy(c.ids, 5));
  model.step();
  CHECK(model.engine.scheduler().running() == 2);
  CHECK(model.engine.scheduler().waiting() == 1);
  model.step();
  CHECK(model.results.count(second) == 1);
  model.step();
  CHECK(!model.engine.scheduler().sequence(third).blocks.empty());
  while (!model.engine.idle()) model.step();
  CHECK(model.results.at(first).output_ids == a.output_ids);
  CHECK(
      std::equal(c.output_ids.begin(), c.output_ids.begin() + 5, model.results.at(third).output_ids.begin()));
}

TEST_CASE("engine: each answer ends for its own reason") {
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

TEST_CASE("engine: an end token that comes first ends an answer of one token") {
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

TEST_CASE("engine: abort while it waits, in the middle of its prompt, and while it writes") {
  Model<Cpu> model("qwen3", 2, 100, 14);
  const Reference::Prompt &len7 = model.reference.prompt("len7"), &len40 = model.reference.prompt("len40");
  const RequestId writes = model.engine.add(greedy(len7.ids, 24)),
                  reads = model.engine.add(greedy(len40.ids, 5)),
                  waits = model.engine.add(greedy(len7.ids, 5)),
                  last = model.engine.add(greedy(len40.ids, 5));
  model.step();
  model.step();
  CHECK(model.engine.scheduler().sequence(reads).computed < 40);
  CHECK(model.engine.scheduler().sequence(waits).blocks.empty());
  model.engine.abort(reads);
  model.engine.abort(waits);
  CHECK(model.engine.scheduler().running() == 1);  // at once
  CHECK(model.engine.scheduler().waiting() == 1);
  model.step();
  for (const RequestId id : {reads, waits}) {
    CHECK(model.results.at(id).finish_reason == FinishReason::aborted);
    CHECK(model.results.at(id).output_ids.empty());
  }
  CHECK(!model.engine.scheduler().sequence(last).blocks.empty());
  CHECK(model.engine.scheduler().sequence(last).cached > 0);  // the aborted prompt was the same
  model.step();
  model.engine.abort(writes);
  model.engine.abort(writes);  // has no effect
  model.engine.abort(12345);
  while (!model.engine.idle()) model.step();
  const Generation& written = model.results.at(writes);
  CHECK(written.finish_reason == FinishReason::aborted);
  CHECK(written.output_ids.size() == 4);
  CHECK(std::equal(written.output_ids.begin(), written.output_ids.end(), len7.output_ids.begin()));
  CHECK(std::equal(len40.output_ids.begin(), len40.output_ids.begin() + 5,
                   model.results.at(last).output_ids.begin()));
  CHECK(model.engine.step().empty());
}

TEST_CASE("engine: a cancelled request ends and the others go on") {
  Model<Cpu> model("qwen3", 2);
  std::atomic<bool> cancelled{false};
  GenerationRequest request = greedy(model.reference.prompt("len17").ids, 8);
  request.cancelled = &cancelled;
  const Reference::Prompt& other = model.reference.prompt("len7");
  const RequestId ends = model.engine.add(request), goes_on = model.engine.add(greedy(other.ids, 8));
  model.step();
  cancelled = true;
  while (!model.engine.idle()) model.step();
  CHECK(model.results.at(ends).finish_reason == FinishReason::aborted);
  CHECK(model.results.at(ends).output_ids.size() == 1);
  CHECK(std::equal(other.output_ids.begin(), other.output_ids.begin() + 8,
                   model.results.at(goes_on).output_ids.begin()));
}

// A fixture in which the embedding of one token is not a number.
class BrokenModel : public ModelFile {
 public:
  BrokenModel(std::shared_ptr<const ModelFile> whole, int32_t broken) : whole_(std::move(whole)) {
    const Tensor& embedding = *whole_->find("token_embd.weight");
    embedding_ = Tensor::host(embedding.dtype(), embedding.shape());
    std::copy_n(embedding.data<float>(), embedding.elements(), embedding_.data<float>());
    std::fill_n(embedding_.slice(broken, 1).data<float>(), embedding.shape()[1], NAN);
  }
  const std::string& path() const override { return whole_->path(); }
  const char* format() const override { return whole_->format(); }
  const Hyperparameters& hyperparameters() const override { return whole_->hyperparameters(); }
  std::vector<std::string> tensor_names() const override { return whole_->tensor_names(); }
  const Tensor* find(std::string_view name) const override {
    return name == "token_embd.weight" ? &embedding_ : whole_->find(name);
  }
  std::string stored_name(std::string_view name) const override { return whole_->stored_name(name); }

 private:
  std::shared_ptr<const ModelFile> whole_;
  Tensor embedding_;
};

TEMPLATE_TEST_CASE("engine: logits that are no numbers end one request and no other", "", Cpu, Cuda) {
  TestType device;
  const Reference reference("qwen2-untied");
  const Reference::Prompt& good = reference.prompt("len7");
  int32_t broken = 511;
  const auto meets = [&](const std::vector<int32_t>& ids) {
    return std::find(ids.begin(), ids.end(), broken) != ids.end();
  };
  while (meets(good.ids) || meets(good.output_ids)) --broken;
  const std::shared_ptr<const ModelFile> whole = open_model(testing::fixture_path("qwen2-untied.gguf"));
  const Tokenizer tokenizer = load_tokenizer(*whole);
  Transformer<TestType> transformer(device, std::make_shared<BrokenModel>(whole, broken), 32, 2);
  KvCache cache(device, whole->hyperparameters(), 32, DType::f32, 2);
  Engine<TestType> engine(transformer, cache, tokenizer);
  const RequestId well = engine.add(greedy(good.ids, 4)), ill = engine.add(greedy({5, broken, 6}, 4)),
                  drawn = engine.add(sampled(greedy({broken}, 4), 1)),
                  behind = engine.add(greedy(good.ids, 4));
  std::map<RequestId, Generation> results;
  while (!engine.idle()) {
    for (RequestOutput& output : engine.step()) {
      if (output.ended) results[output.id] = std::move(output.result);
    }
  }
  for (const RequestId id : {ill, drawn}) {
    CHECK(results[id].finish_reason == FinishReason::error);
    CHECK_THAT(results[id].error, Catch::Contains("broken"));
  }
  for (const RequestId id : {well, behind}) {  // the last one in the row where the broken keys were
    CHECK(std::equal(good.output_ids.begin(), good.output_ids.begin() + 4, results[id].output_ids.begin()));
    CHECK(results[id].output_ids.size() == 4);
  }
}

TEST_CASE("engine: the reference prompts of the default model at once", "[model][slow]") {
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
  Engine<Cpu> engine(transformer, cache, tokenizer);
  for (const GenerationRequest& request : requests) engine.add(request);
  std::map<RequestId, Generation> results;
  while (!engine.idle()) {
    for (RequestOutput& output : engine.step()) {
      if (output.ended) results[output.id] = std::move(output.result);
    }
  }
  for (size_t i = 0; i < cases.size(); ++i) {
    CAPTURE(cases[i].prompt);
    CHECK(!results.at(static_cast<RequestId>(i)).output_ids.empty());
    CHECK(std::equal(results.at(static_cast<RequestId>(i)).output_ids.begin(),
                     results.at(static_cast<RequestId>(i)).output_ids.end(), cases[i].output_ids.begin()));
  }
}

}  // namespace
}  // namespace rung
