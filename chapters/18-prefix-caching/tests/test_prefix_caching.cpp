// The engine with shared blocks: answers are those given alone, whatever was in the cache before; several
// answers to one prompt are those of as many requests; and the cases in which others have gone wrong.
#include <algorithm>
#include <atomic>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "engine/engine.h"
#include "testing/catch.h"
#include "testing/fixture.h"
#include "testing/reference.h"

namespace rung {
namespace {

using Ids = std::vector<int32_t>;

GenerationRequest greedy(const Ids& prompt_ids, int64_t max_tokens) {
  GenerationRequest request;
  request.prompt_ids = prompt_ids;
  request.max_tokens = max_tokens;
  request.ignore_eos = true;
  request.sampling.temperature = 0;
  return request;
}

GenerationRequest sampled(const Ids& prompt_ids, int64_t max_tokens, uint64_t seed) {
  GenerationRequest request = greedy(prompt_ids, max_tokens);
  request.sampling.temperature = 2;
  request.sampling.seed = seed;
  return request;
}

uint64_t no_hash(uint64_t, Span<const int32_t>) {
  return 7;
}

struct Limits {
  int64_t running = 8, step_tokens = 64;
  KvBlocks blocks = {64, 4};
  PrefixIndex::Hash hash = chained_hash;
};

template <class Device>
struct Model {
  static Device make() {
    if constexpr (std::is_same_v<Device, Cpu>)
      return Cpu(1);  // quicker than two threads for so small a model
    else
      return Device();
  }
  Device device = make();
  std::shared_ptr<const ModelFile> file = open_model(testing::fixture_path("qwen3.gguf"));
  Tokenizer tokenizer = load_tokenizer(*file);
  testing::ModelReference reference{"qwen3"};

  const Ids& prompt(const char* name) const { return reference.prompt(name).ids; }
  const Ids& output(const char* name) const { return reference.prompt(name).output_ids; }
};

// An engine of its own; answers by request and number.
template <class Device>
struct Runner {
  Transformer<Device> transformer;
  KvCache cache;
  Engine<Device> engine;
  std::map<std::pair<RequestId, int64_t>, Generation> results;
  std::map<std::pair<RequestId, int64_t>, std::string> texts;

  explicit Runner(Model<Device>& model, const Limits& limits = {})
      : transformer(model.device, model.file, limits.step_tokens, limits.running),
        cache(model.device, model.file->hyperparameters(), 100, DType::f32, limits.blocks),
        engine(transformer, cache, model.tokenizer, limits.hash) {}

  void step() {
    for (RequestOutput& output : engine.step()) {
      texts[{output.id, output.answer}] += output.text;
      if (!output.ended) continue;
      CHECK(texts[{output.id, output.answer}] == output.result.text);
      CHECK(results.emplace(std::pair{output.id, output.answer}, std::move(output.result)).second);
    }
    const BlockPool& pool = engine.scheduler().pool();
    REQUIRE(pool.free() + pool.cached() + pool.used() == pool.total());
  }
  void finish() {
    while (!engine.idle()) step();
    CHECK(engine.scheduler().pool().used() == 0);
  }
  Generation run(const GenerationRequest& request) {
    const RequestId id = engine.add(request);
    finish();
    return results.at({id, 0});
  }
};

bool begins(const Ids& whole, const Ids& part) {
  return part.size() <= whole.size() && std::equal(part.begin(), part.end(), whole.begin());
}

// Requests of different lengths, many of which begin alike; greedy and sampled; some with several answers.
template <class Device>
std::vector<GenerationRequest> mix(const Model<Device>& model, size_t count, int64_t most_tokens) {
  std::vector<GenerationRequest> requests;
  for (size_t i = 0; i < count; ++i) {
    const char* names[] = {"len40", "len7", "len17", "len2", "len40"};
    Ids ids = model.prompt(names[i % 5]);
    if (i % 4 > 0) ids.resize(ids.size() - i % 3 * ids.size() / 4);  // a beginning of it
    ids.push_back(static_cast<int32_t>(5 + i % 11));
    const int64_t tokens = 1 + static_cast<int64_t>(i * 5) % most_tokens;
    requests.push_back(i % 3 == 2 ? sampled(ids, tokens, i) : greedy(ids, tokens));
    if (i % 4 == 3) requests.back().answers = 2;
  }
  return requests;
}

// Each answer of each request, computed by an engine that sees nothing else.
template <class Device>
std::vector<std::vector<Generation>> answers_alone(Model<Device>& model,
                                                   const std::vector<GenerationRequest>& requests) {
  std::vector<std::vector<Generation>> alone;
  for (const GenerationRequest& request : requests) {
    alone.emplace_back();
    for (int64_t i = 0; i < request.answers; ++i) {
      GenerationRequest one = request;
      one.answers = 1;
      one.sampling.seed += static_cast<uint64_t>(i);
      alone.back().push_back(Runner<Device>(model, {1, 64, {25, 4}}).run(one));
    }
  }
  return alone;
}

template <class Device>
void check_independence(size_t count, int64_t most_tokens, const std::vector<Limits>& all_limits) {
  Model<Device> model;
  const std::vector<GenerationRequest> requests = mix(model, count, most_tokens);
  const std::vector<std::vector<Generation>> alone = answers_alone(model, requests);
  std::mt19937 random(5);
  int64_t cached = 0, preemptions = 0;
  for (const Limits& limits : all_limits) {
    Runner<Device> runner(model, limits);
    for (const bool warm : {false, true}) {  // the second time all that was computed before may be cached
      std::vector<size_t> order(requests.size());
      std::iota(order.begin(), order.end(), 0);
      std::shuffle(order.begin(), order.end(), random);
      std::map<RequestId, size_t> request_of;
      runner.results.clear();
      for (size_t i = 0; i < order.size() || !runner.engine.idle(); runner.step()) {
        for (uint32_t arrivals = random() % 4; arrivals > 0 && i < order.size(); --arrivals, ++i)
          request_of[runner.engine.add(requests[order[i]])] = order[i];
      }
      CHECK(runner.engine.scheduler().pool().used() == 0);
      for (const auto& [id_and_answer, result] : runner.results) {
        const size_t request = request_of.at(id_and_answer.first);
        const Generation& expected = alone[request][static_cast<size_t>(id_and_answer.second)];
        CAPTURE(limits.running, limits.step_tokens, limits.blocks.count, limits.blocks.size, warm, request);
        REQUIRE(result.output_ids == expected.output_ids);
        REQUIRE(result.text == expected.text);
      }
      size_t answers = 0;
      for (const auto& of_request : alone) answers += of_request.size();
      REQUIRE(runner.results.size() == answers);
    }
    cached += runner.engine.figures().cached;
    preemptions += runner.engine.figures().preemptions;
  }
  CHECK(cached > 0);
  CHECK(preemptions > 0);
}

TEST_CASE("prefix caching: answers do not depend on what else runs or ran") {
  check_independence<Cpu>(33, 8,
                          {{2, 30, {32, 4}},
                           {8, 8, {16, 4}},
                           {8, 8, {60, 1}},
                           {8, 64, {4, 16}},
                           {8, 64, {20, 4}, no_hash},
                           {33, 500, {100, 8}}});
}

TEST_CASE("prefix caching: answers do not depend on what else runs or ran, on emulated Cuda", "[emulated]") {
  if (kCudaEmulated) check_independence<Cuda>(8, 3, {{2, 9, {13, 4}}, {8, 64, {12, 4}, no_hash}});
}

TEST_CASE("prefix caching: a prompt that is cached to its end") {
  Model<Cpu> model;
  Runner<Cpu> runner(model, {4, 64, {40, 8}});
  const Ids& ids = model.prompt("len40");  // five full blocks
  CHECK(runner.run(greedy(ids, 4)).cached_tokens == 0);
  CHECK(runner.engine.figures().computed == 40 + 3);
  const Generation again = runner.run(greedy(ids, 4));
  CHECK(again.cached_tokens == 32);  // the last token's logits are wanted, and its block is computed with it
  CHECK(runner.engine.figures().computed == 43 + 8 + 3);
  CHECK(begins(model.output("len40"), again.output_ids));
  CHECK(again.output_ids.size() == 4);
  CHECK(runner.run(greedy({ids.begin(), ids.begin() + 8}, 1)).cached_tokens == 0);
  CHECK(runner.run(greedy({ids.begin(), ids.begin() + 9}, 1)).cached_tokens == 8);
}

TEST_CASE("prefix caching: a block that is not computed yet is shared with nobody") {
  Model<Cpu> model;
  Runner<Cpu> runner(model, {4, 24, {40, 8}});
  const Ids& ids = model.prompt("len40");
  const RequestId first = runner.engine.add(greedy(ids, 4)), second = runner.engine.add(greedy(ids, 4));
  runner.step();  // three blocks of the first, none of the second
  CHECK(runner.engine.scheduler().sequence(second).blocks.empty());
  runner.step();  // the first gets its other two and ends its prompt
  CHECK(runner.engine.scheduler().sequence(second).cached == 24);
  runner.finish();
  CHECK(runner.results.at({second, 0}).cached_tokens == 24);
  for (const RequestId id : {first, second})
    CHECK(begins(model.output("len40"), runner.results.at({id, 0}).output_ids));

  // In the same step neither can have anything of the other; afterwards they keep one copy.
  Runner<Cpu> together(model, {4, 100, {40, 8}});
  together.engine.add(greedy(ids, 4));
  together.engine.add(greedy(ids, 4));
  together.step();
  CHECK(together.engine.figures().computed == 80);
  CHECK(together.engine.figures().cached == 0);
  CHECK(together.engine.scheduler().pool().used() == 5);
  together.step();
  CHECK(together.engine.scheduler().pool().used() == 5 + 2);
  together.finish();
  for (const RequestId id : {0, 1})
    CHECK(begins(model.output("len40"), together.results.at({id, 0}).output_ids));
}

TEST_CASE("prefix caching: a request that leaves takes no block from those who share it") {
  Model<Cpu> model;
  Runner<Cpu> runner(model, {3, 64, {14, 8}});
  const Ids& ids = model.prompt("len40");
  const RequestId first = runner.engine.add(greedy(ids, 20));
  runner.step();
  const RequestId second = runner.engine.add(greedy(ids, 20));
  runner.step();
  CHECK(runner.engine.scheduler().sequence(second).cached == 32);
  runner.engine.abort(first);
  // Others want all the memory that there is.
  const RequestId third = runner.engine.add(greedy(model.prompt("len17"), 24));
  runner.finish();
  CHECK(runner.results.at({first, 0}).finish_reason == FinishReason::aborted);
  CHECK(runner.results.at({second, 0}).output_ids ==
        Ids(model.output("len40").begin(), model.output("len40").begin() + 20));
  CHECK(runner.results.at({third, 0}).output_ids == model.output("len17"));
}

TEST_CASE("prefix caching: several answers to a prompt are those of as many requests") {
  Model<Cpu> model;
  for (const int64_t block_size : {1, 4, 16}) {
    CAPTURE(block_size);
    Runner<Cpu> runner(model, {8, 64, blocks_for(8, 100, block_size)});
    GenerationRequest request = sampled(model.prompt("len7"), 12, 40);
    request.answers = 5;
    const RequestId id = runner.engine.add(request);
    runner.step();
    CHECK(runner.engine.figures().computed == 7);  // the prompt once
    CHECK(runner.engine.scheduler().running() == 5);
    CHECK(runner.engine.scheduler().pool().used() == runner.engine.scheduler().pool().needed(7));
    runner.step();
    // Where the prompt ends inside a block, all but one copy it.
    CHECK(runner.engine.scheduler().copies().size() == (block_size == 1 ? 0 : 4));
    runner.finish();
    CHECK(runner.engine.figures().computed == 7 + 5 * 11);
    std::set<Ids> different;
    for (int64_t i = 0; i < 5; ++i) {
      const Generation& answer = runner.results.at({id, i});
      CHECK(answer.output_ids == Runner<Cpu>(model)
                                     .run(sampled(model.prompt("len7"), 12, 40 + static_cast<uint64_t>(i)))
                                     .output_ids);
      different.insert(answer.output_ids);
    }
    CHECK(different.size() > 1);
  }
}

TEST_CASE("prefix caching: several answers whose blocks do not fit go on one after the other") {
  Model<Cpu> model;
  Runner<Cpu> runner(model, {4, 64, {11, 4}});  // seven full blocks, and one for each answer's last tokens
  GenerationRequest request = greedy(model.prompt("len7"), 24);
  request.answers = 4;
  const RequestId id = runner.engine.add(request);
  runner.finish();
  CHECK(runner.engine.figures().preemptions == 0);  // greedy answers are alike, and share all full blocks

  request = sampled(model.prompt("len7"), 24, 3);
  request.answers = 4;
  const RequestId other = runner.engine.add(request);
  runner.finish();
  CHECK(runner.engine.figures().preemptions > 0);
  for (int64_t i = 0; i < 4; ++i) {
    CHECK(runner.results.at({id, i}).output_ids == model.output("len7"));
    CHECK(runner.results.at({other, i}).output_ids ==
          Runner<Cpu>(model).run(sampled(model.prompt("len7"), 24, 3 + static_cast<uint64_t>(i))).output_ids);
  }
}

TEST_CASE(
    "prefix caching: a request with several answers that is aborted or cannot be answered ends them all") {
  Model<Cpu> model;
  Runner<Cpu> runner(model, {4, 10, {40, 4}});
  const auto all = [&](RequestId id) {
    std::vector<FinishReason> reasons;
    for (const auto& [id_and_answer, result] : runner.results) {
      if (id_and_answer.first == id) reasons.push_back(result.finish_reason);
    }
    return reasons;
  };
  GenerationRequest request = greedy(model.prompt("len40"), 5);
  request.answers = 3;
  const RequestId reads = runner.engine.add(request);
  runner.step();
  runner.engine.abort(reads);  // in the middle of its prompt
  CHECK(runner.engine.scheduler().running() == 0);
  CHECK(runner.engine.scheduler().pool().used() == 0);
  runner.step();
  CHECK(all(reads) == std::vector<FinishReason>(3, FinishReason::aborted));

  request.prompt_ids = model.prompt("len7");
  std::atomic<bool> cancelled{false};
  request.cancelled = &cancelled;
  const RequestId writes = runner.engine.add(request);
  runner.step();
  runner.step();
  cancelled = true;
  runner.finish();
  CHECK(all(writes) == std::vector<FinishReason>(3, FinishReason::aborted));
  CHECK(runner.results.at({writes, 2}).output_ids.size() == 2);
  request.cancelled = nullptr;

  request.max_tokens = 0;
  const RequestId nothing = runner.engine.add(request);
  request.max_tokens = 1;
  const RequestId one = runner.engine.add(request);
  request.prompt_ids.clear();
  const RequestId empty = runner.engine.add(request);
  request.prompt_ids = model.prompt("len7");
  request.answers = 5;
  const RequestId many = runner.engine.add(request);
  request.answers = 0;
  const RequestId none = runner.engine.add(request);
  runner.finish();
  CHECK(all(nothing) == std::vector<FinishReason>(3, FinishReason::length));
  CHECK(all(one) == std::vector<FinishReason>(3, FinishReason::length));
  CHECK(runner.results.at({one, 2}).output_ids == Ids{model.output("len7")[0]});
  CHECK(all(empty) == std::vector<FinishReason>(3, FinishReason::error));
  CHECK(all(many) == std::vector<FinishReason>(5, FinishReason::error));
  CHECK_THAT(runner.results.at({many, 4}).error,
             Catch::Contains("5 answers") && Catch::Contains("at most 4"));
  CHECK(all(none) == std::vector<FinishReason>(1, FinishReason::error));
}

TEST_CASE("prefix caching: the turns of a conversation go on where the last one ended") {
  Model<Cpu> model;
  Runner<Cpu> runner(model, {2, 64, {32, 4}});
  Ids conversation = model.prompt("len17");
  for (int turn = 0; turn < 3; ++turn) {
    CAPTURE(turn);
    const auto known = static_cast<int64_t>(conversation.size());
    const Generation answer = runner.run(greedy(conversation, 9));
    CHECK(answer.output_ids == Runner<Cpu>(model).run(greedy(conversation, 9)).output_ids);
    if (turn > 0)
      CHECK(answer.cached_tokens > known - 3 - 4 - 1);  // all but the question and a part of a block
    conversation.insert(conversation.end(), answer.output_ids.begin(), answer.output_ids.end());
    for (const int32_t id : {9, 8, 7}) conversation.push_back(id + turn);
  }
}

TEST_CASE("prefix caching: a long prompt holds nobody up") {
  Model<Cpu> model;
  Runner<Cpu> runner(model, {4, 8, {64, 4}});
  const RequestId writes = runner.engine.add(greedy(model.prompt("len7"), 20));
  runner.step();
  Ids prompt = model.prompt("len70");
  const RequestId reads = runner.engine.add(greedy(prompt, 4));
  for (size_t step = 1; step <= 10; ++step) {  // seven of its tokens a step
    CHECK(runner.engine.scheduler().sequence(writes).ids.size() == 7 + step);
    runner.step();
  }
  CHECK(runner.engine.scheduler().sequence(reads).ids.size() == prompt.size() + 1);
  runner.finish();
  CHECK(begins(model.output("len7"), runner.results.at({writes, 0}).output_ids));
  CHECK(runner.results.at({writes, 0}).output_ids.size() == 20);
}

}  // namespace
}  // namespace rung
