// Whole-model speed with many requests: what a mix of them costs, and how much of that is good for anything.
#include <algorithm>
#include <map>

#include "bench/request_mix.h"
#include "bench/whole_model.h"
#include "engine/engine.h"
#include "engine/perplexity.h"
#include "rung/bench.h"
#include "rung/error.h"
#include "rung/timer.h"

namespace rung {

namespace {

class BatchingBench : public BenchPart {
 public:
  const char* name() const override { return "batching"; }
  const char* summary() const override { return "a mix of requests that join and leave at any step"; }
  int level() const override { return 1; }

  void options(CommandLine& line) override {
    mix_.add(line);
    line.option("--batch", batch_, "Most requests that run at once");
    line.range(1, 65536);
    line.flag("--alone", alone_,
              "Also answer each request by itself, and count the answers that come out otherwise.");
    whole_model().add(line);
  }

  void prepare(const BenchSettings& settings) override {
    model_ = whole_model().open(settings);
    requests_ = mix_.make(model_->hyperparameters().vocabulary);
    context_ = whole_model().cache.resolve(model_->hyperparameters(), mix_.most_prompt + mix_.most_output, 1);
  }

  void run(Bench& bench, Cpu& device) override { measure(bench, device); }
  void run(Bench& bench, Cuda& device) override { measure(bench, device); }

 private:
  template <class Device>
  void measure(Bench& bench, Device& device) {
    const WholeModel& whole = whole_model();
    const Tokenizer tokenizer = whole.tokenizer(*model_);
    const int64_t rows = std::min(batch_, mix_.requests);
    Transformer<Device> transformer(device, model_, std::max(whole.pass_tokens, rows), rows,
                                    whole.weights.type());
    KvCache cache = whole.cache.make(transformer, context_, rows);

    Engine<Device> engine(transformer, cache, tokenizer);
    for (const GenerationRequest& request : mix_.warm_up(device, model_->hyperparameters().vocabulary))
      engine.add(request);
    while (!engine.idle()) engine.step();

    const EngineFigures before = engine.figures();
    int64_t output_tokens = 0, useful = 0, decoded = 0;
    double decode_seconds = 0;  // of steps in which no prompt was computed
    Timer timer;
    std::map<RequestId, Generation> together;
    for (const GenerationRequest& request : requests_) {
      together[engine.add(request)];
      useful += static_cast<int64_t>(request.prompt_ids.size()) + request.max_tokens - 1;
    }
    while (!engine.idle()) {
      const int64_t computed = engine.figures().computed;
      const Timer step_timer;
      std::vector<RequestOutput> outputs = engine.step();
      const int64_t tokens = engine.figures().computed - computed;
      for (RequestOutput& output : outputs) {
        if (!output.result.error.empty()) fail(output.result.error);
        output_tokens += static_cast<int64_t>(output.result.output_ids.size());
        if (output.ended) together[output.id] = std::move(output.result);
      }
      if (tokens <= rows) decode_seconds += step_timer.seconds(), decoded += tokens;
    }
    const double seconds = timer.seconds();
    const auto computed = static_cast<double>(engine.figures().computed - before.computed);

    BenchResult result;
    result.name = "continuous batching";
    result.shape = std::to_string(mix_.requests) + " requests, " + std::to_string(rows) + " at once";
    result.seconds = seconds;
    result.repetitions = 1;
    result.figures = {{"output_tokens_per_second", static_cast<double>(output_tokens) / seconds, "tok/s", ""},
                      {"computed_tokens_per_second", computed / seconds, "tok/s", ""},
                      {"decode_tokens_per_second",
                       decode_seconds > 0 ? static_cast<double>(decoded) / decode_seconds : 0, "tok/s", ""},
                      {"useful_percent", 100.0 * static_cast<double>(useful) / computed, "%", ""},
                      {"computed_tokens", computed, "", ""},
                      {"passes", static_cast<double>(engine.figures().steps - before.steps), "", ""}};
    bench.record(device, std::move(result));
    if (alone_) compare_alone(bench, device, together);
  }

  // Answers each request by itself. Where an answer differs, how much more probable than the other token the
  // model alone finds the one that it chose: the widest of these near-ties, in nats.
  template <class Device>
  void compare_alone(Bench& bench, Device& device, const std::map<RequestId, Generation>& together) {
    const WholeModel& whole = whole_model();
    const Tokenizer tokenizer = whole.tokenizer(*model_);
    Transformer<Device> transformer(device, model_, kScoredTokens, kScoredTokens, whole.weights.type());
    KvCache cache = whole.cache.make(transformer, context_, 1),
            scored = whole.cache.make(transformer, context_, 1);
    Engine<Device> engine(transformer, cache, tokenizer);
    int64_t tokens = 0, different = 0;
    double widest = 0;
    const Timer timer;
    auto other = together.begin();
    for (const GenerationRequest& request : requests_) {
      engine.add(request);
      std::vector<int32_t> ids;
      while (!engine.idle()) {
        for (const RequestOutput& output : engine.step()) ids = output.result.output_ids;
      }
      const std::vector<int32_t>& other_ids = (other++)->second.output_ids;
      const auto [mine, theirs] = std::mismatch(ids.begin(), ids.end(), other_ids.begin(), other_ids.end());
      tokens += mine - ids.begin();
      if (mine == ids.end() && theirs == other_ids.end()) continue;
      if (mine == ids.end() || theirs == other_ids.end()) fail("an answer ended early");
      ++different;
      std::vector<int32_t> text = request.prompt_ids;
      text.insert(text.end(), ids.begin(), mine);
      const auto score = [&](int32_t next) {
        std::vector<int32_t> longer = text;
        longer.push_back(next);
        return score_windows(transformer, scored, longer, static_cast<int64_t>(longer.size()), [](size_t) {})
            .back();
      };
      widest = std::max(widest, score(*mine) - score(*theirs));
    }
    BenchResult result;
    result.name = "the same alone";
    result.shape = std::to_string(requests_.size()) + " requests";
    result.seconds = timer.seconds();
    result.repetitions = 1;
    result.figures = {{"equal_tokens", static_cast<double>(tokens), "", ""},
                      {"answers_that_differ", static_cast<double>(different), "", ""},
                      {"widest_tie", widest, "nats", ""}};
    bench.record(device, std::move(result));
  }

  static constexpr int64_t kScoredTokens = 64;  // of a pass

  RequestMix mix_;
  int64_t batch_ = 8, context_ = 0;
  bool alone_ = false;
  std::shared_ptr<const ModelFile> model_;
  std::vector<GenerationRequest> requests_;
};

RUNG_BENCH(BatchingBench);

}  // namespace

}  // namespace rung
