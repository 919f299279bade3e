// Whole-model speed with many requests: what a mix of them costs, and how much of that is good for anything.
#include <algorithm>

#include "bench/request_mix.h"
#include "bench/whole_model.h"
#include "engine/engine.h"
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
    GenerationRequest warm_up = requests_[0];
    warm_up.prompt_ids = {0};  // shares no beginning with the others
    engine.add(warm_up);
    while (!engine.idle()) engine.step();

    const EngineFigures before = engine.figures();
    int64_t output_tokens = 0, useful = 0, decoded = 0;
    double decode_seconds = 0;  // of steps in which no prompt was computed
    Timer timer;
    for (const GenerationRequest& request : requests_) {
      engine.add(request);
      useful += static_cast<int64_t>(request.prompt_ids.size()) + request.max_tokens - 1;
    }
    while (!engine.idle()) {
      const int64_t computed = engine.figures().computed;
      const Timer step_timer;
      const std::vector<RequestOutput> outputs = engine.step();
      const int64_t tokens = engine.figures().computed - computed;
      for (const RequestOutput& output : outputs) {
        if (!output.result.error.empty()) fail(output.result.error);
        output_tokens += static_cast<int64_t>(output.result.output_ids.size());
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
    result.figures = {
        {"output_tokens_per_second", static_cast<double>(output_tokens) / seconds, "tok/s", ""},
        {"computed_tokens_per_second", computed / seconds, "tok/s", ""},
        {"decode_tokens_per_second", decode_seconds > 0 ? static_cast<double>(decoded) / decode_seconds : 0,
         "tok/s", ""},
        {"useful_percent", 100.0 * static_cast<double>(useful) / computed, "%", ""},
        {"computed_tokens", computed, "", ""},
        {"preemptions", static_cast<double>(engine.figures().preemptions - before.preemptions), "", ""},
        {"passes", static_cast<double>(engine.figures().steps - before.steps), "", ""}};
    bench.record(device, std::move(result));
  }

  RequestMix mix_;
  int64_t batch_ = 8, context_ = 0;
  std::shared_ptr<const ModelFile> model_;
  std::vector<GenerationRequest> requests_;
};

RUNG_BENCH(BatchingBench);

}  // namespace

}  // namespace rung
