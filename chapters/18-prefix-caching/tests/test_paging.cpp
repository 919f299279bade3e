// The engine on a pool of blocks: answers stay the same when requests lose their blocks and are computed
// again, and a request that the pool cannot hold is refused or ends.
#include <algorithm>
#include <map>

#include "engine/engine.h"
#include "testing/catch.h"
#include "testing/fixture.h"
#include "testing/reference.h"

namespace rung {
namespace {

using Reference = testing::ModelReference;

GenerationRequest request(const std::vector<int32_t>& prompt_ids, int64_t max_tokens, float temperature = 0) {
  GenerationRequest request;
  request.prompt_ids = prompt_ids;
  request.max_tokens = max_tokens;
  request.ignore_eos = true;
  request.sampling.temperature = temperature;
  request.sampling.seed = 7;
  return request;
}

template <class Device>
struct Model {
  Device device;
  std::shared_ptr<const ModelFile> file = open_model(testing::fixture_path("qwen3.gguf"));
  Tokenizer tokenizer = load_tokenizer(*file);
  Reference reference{"qwen3"};
  Transformer<Device> transformer{device, file, 64, 8};

  struct Run {
    std::vector<Generation> results;
    int64_t preemptions;
  };
  // The requests in order of arrival, one every `apart` steps, on a pool of these blocks.
  Run run(const std::vector<GenerationRequest>& requests, KvBlocks blocks, int64_t apart = 0) {
    KvCache cache(device, file->hyperparameters(), 100, DType::f32, blocks);
    Engine<Device> engine(transformer, cache, tokenizer);
    Run run{std::vector<Generation>(requests.size()), 0};
    size_t arrived = 0;
    for (int64_t step = 0; arrived < requests.size() || !engine.idle(); ++step) {
      while (arrived < requests.size() && static_cast<int64_t>(arrived) * apart <= step)
        engine.add(requests[arrived++]);
      for (RequestOutput& output : engine.step()) {
        if (output.ended) run.results[static_cast<size_t>(output.id)] = std::move(output.result);
      }
      const BlockPool& pool = engine.scheduler().pool();
      REQUIRE(pool.free() + pool.cached() + pool.used() == pool.total());
    }
    CHECK(engine.scheduler().pool().used() == 0);
    run.preemptions = engine.figures().preemptions;
    return run;
  }
};

template <class Device>
void check_preemption(int64_t tokens) {
  Model<Device> model;
  std::vector<GenerationRequest> requests;
  for (const char* prompt : {"len17", "len7", "len2", "len40", "len1", "len7"}) {
    requests.push_back(
        request(model.reference.prompt(prompt).ids, tokens, requests.size() % 2 == 0 ? 0 : 1.5f));
  }
  std::vector<std::vector<int32_t>> alone;
  for (const GenerationRequest& one : requests)
    alone.push_back(model.run({one}, {25, 4}).results[0].output_ids);
  int64_t preemptions = 0;
  // Pools that hold the longest request and little more.
  for (const KvBlocks blocks : {KvBlocks{15, 4}, KvBlocks{60, 1}, KvBlocks{4, 16}}) {
    for (const int64_t apart : {0, 3}) {
      if (blocks.size == 1 && apart > 0) continue;
      CAPTURE(blocks.count, blocks.size, apart);
      const auto run = model.run(requests, blocks, apart);
      for (size_t i = 0; i < requests.size(); ++i) {
        CAPTURE(i);
        CHECK(run.results[i].output_ids == alone[i]);
        CHECK(run.results[i].finish_reason == FinishReason::length);
      }
      preemptions += run.preemptions;
    }
  }
  CHECK(preemptions > 3);
  const Reference::Prompt& reference = model.reference.prompt("len17");
  CHECK(std::equal(alone[0].begin(), alone[0].end(), reference.output_ids.begin()));
}

TEST_CASE("paging: requests that lose their blocks give the same answers") {
  check_preemption<Cpu>(18);
}

TEST_CASE("paging: requests that lose their blocks give the same answers, on Cuda", "[emulated]") {
  if (kCudaEmulated) check_preemption<Cuda>(14);
}

TEST_CASE("paging: a prompt that the pool cannot hold is refused with both numbers, and the others go on") {
  Model<Cpu> model;
  const Reference::Prompt& good = model.reference.prompt("len7");
  const auto run = model.run({request(std::vector<int32_t>(33, 5), 4), request(good.ids, 4)}, {8, 4});
  CHECK(run.results[0].finish_reason == FinishReason::error);
  CHECK_THAT(run.results[0].error, Catch::Contains("33 tokens") && Catch::Contains("space for 32"));
  CHECK(std::equal(run.results[1].output_ids.begin(), run.results[1].output_ids.end(),
                   good.output_ids.begin()));
}

TEST_CASE("paging: a request that outgrows the whole pool ends there") {
  Model<Cpu> model;
  const Reference::Prompt& prompt = model.reference.prompt("len7");
  const auto run = model.run({request(prompt.ids, 50), request(prompt.ids, 50)}, {5, 4});
  for (const Generation& result : run.results) {
    CHECK(result.finish_reason == FinishReason::length);
    CHECK(result.output_ids.size() == 14);  // 20 slots; the last token needs none
    CHECK(std::equal(result.output_ids.begin(), result.output_ids.end(), prompt.output_ids.begin()));
  }
  CHECK(run.preemptions >= 1);
}

TEST_CASE("paging: a waiting request and one that was preempted can be aborted") {
  Model<Cpu> model;
  KvCache cache(model.device, model.file->hyperparameters(), 100, DType::f32, KvBlocks{6, 4});
  Engine<Cpu> engine(model.transformer, cache, model.tokenizer);
  const std::vector<int32_t>& ids = model.reference.prompt("len7").ids;
  const RequestId first = engine.add(request(ids, 16)), second = engine.add(request(ids, 16));
  std::map<RequestId, Generation> results;
  while (!engine.idle()) {
    for (RequestOutput& output : engine.step()) {
      if (output.ended) results[output.id] = std::move(output.result);
    }
    if (engine.figures().preemptions == 1 && results.count(second) == 0) engine.abort(second);
  }
  CHECK(engine.figures().preemptions == 1);
  CHECK(results[second].finish_reason == FinishReason::aborted);
  CHECK(results[second].output_ids.size() < 16);
  CHECK(results[first].output_ids.size() == 16);
  CHECK(engine.scheduler().pool().used() == 0);
}

}  // namespace
}  // namespace rung
