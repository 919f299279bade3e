// Whole-model speed with many requests: what a mix of them costs, and how much of that is good for anything.
#include <algorithm>

#include "bench/request_mix.h"
#include "bench/whole_model.h"
#include "engine/static_batch.h"
#include "rung/bench.h"
#include "rung/error.h"
#include "rung/timer.h"

namespace rung {

namespace {

class BatchingBench : public BenchPart {
 public:
  const char* name() const override { return "batching"; }
  const char* summary() const override { return "a mix of requests in batches, and what padding wastes"; }
  int level() const override { return 1; }

  void options(CommandLine& line) override {
    mix_.add(line);
    line.option("--batch", batch_, "Requests that run together");
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

    const auto answer_all = [&](const std::vector<GenerationRequest>& requests, BatchFigures& figures) {
      int64_t output_tokens = 0;
      for (size_t begin = 0; begin < requests.size(); begin += static_cast<size_t>(rows)) {
        const size_t count = std::min(static_cast<size_t>(rows), requests.size() - begin);
        for (const Generation& result :
             generate_batch(transformer, cache, tokenizer, {requests.data() + begin, count}, figures)) {
          if (!result.error.empty()) fail(result.error);
          output_tokens += static_cast<int64_t>(result.output_ids.size());
        }
      }
      return output_tokens;
    };
    BatchFigures unused, figures;
    answer_all(mix_.warm_up(device, model_->hyperparameters().vocabulary), unused);
    Timer timer;
    const int64_t output_tokens = answer_all(requests_, figures);
    const double seconds = timer.seconds();

    BenchResult result;
    result.name = "static batches";
    result.shape = std::to_string(mix_.requests) + " requests, " + std::to_string(rows) + " at once";
    result.seconds = seconds;
    result.repetitions = 1;
    result.figures = {
        {"output_tokens_per_second", static_cast<double>(output_tokens) / seconds, "tok/s", ""},
        {"useful_percent",
         100.0 * static_cast<double>(figures.useful) / static_cast<double>(figures.computed), "%", ""},
        {"computed_tokens", static_cast<double>(figures.computed), "", ""},
        {"passes", static_cast<double>(figures.passes), "", ""}};
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
