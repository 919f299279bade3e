// What somebody waits for: the first token of an answer when the beginning of its prompt is cached and when
// it is not, and the next token of a running answer while a long prompt arrives.
#include <algorithm>

#include "bench/whole_model.h"
#include "engine/engine.h"
#include "rung/bench.h"
#include "rung/error.h"
#include "rung/timer.h"

namespace rung {

namespace {

class PrefixBench : public BenchPart {
 public:
  const char* name() const override { return "prefix"; }
  const char* summary() const override { return "waiting for a first token, and for the next one"; }
  int level() const override { return 1; }

  void options(CommandLine& line) override {
    line.option("--shared-tokens", shared_, "Tokens with which all prompts begin");
    line.range(1, 1e6);
    line.option("--own-tokens", own_, "Tokens of a prompt that are its own");
    line.range(1, 1e6);
    line.option("--long-prompt", long_, "Tokens of the prompt that arrives while another answer is written");
    line.range(1, 1e6);
    line.option("--rounds", rounds_, "Times that a first token is waited for; the median counts");
    line.range(1, 1000);
    whole_model().add(line);
  }

  void prepare(const BenchSettings& settings) override {
    model_ = whole_model().open(settings);
    context_ = whole_model().cache.resolve(model_->hyperparameters(),
                                           std::max(shared_ + own_ + 1, long_) + kRunningTokens, 1);
  }

  void run(Bench& bench, Cpu& device) override { measure(bench, device); }
  void run(Bench& bench, Cuda& device) override { measure(bench, device); }

 private:
  static constexpr int64_t kRunningTokens = 256;  // most that the running answer writes

  // Ids that no other call gives.
  std::vector<int32_t> random_ids(int64_t count) {
    const auto vocabulary = static_cast<double>(model_->hyperparameters().vocabulary);
    std::vector<int32_t> ids;
    while (static_cast<int64_t>(ids.size()) < count)
      ids.push_back(static_cast<int32_t>(uniform_draw(1, drawn_++) * vocabulary));
    return ids;
  }

  static GenerationRequest request(std::vector<int32_t> prompt, int64_t tokens) {
    GenerationRequest request;
    request.prompt_ids = std::move(prompt);
    request.max_tokens = tokens;
    request.ignore_eos = true;
    request.sampling.temperature = 0;
    return request;
  }

  template <class Device>
  static Generation run_alone(Engine<Device>& engine, const GenerationRequest& request) {
    engine.add(request);
    Generation result;
    while (!engine.idle()) {
      for (RequestOutput& output : engine.step()) result = std::move(output.result);
    }
    if (!result.error.empty()) fail(result.error);
    return result;
  }

  template <class Device>
  void measure(Bench& bench, Device& device) {
    const WholeModel& whole = whole_model();
    const Tokenizer tokenizer = whole.tokenizer(*model_);
    for (const int64_t step_tokens : {long_ + 1, int64_t{128}, int64_t{32}}) {
      Transformer<Device> transformer(device, model_, step_tokens, 2, whole.weights.type());
      KvCache cache = whole.cache.make(transformer, context_, 2);
      Engine<Device> engine(transformer, cache, tokenizer);
      run_alone(engine, request(random_ids(own_), 2));  // warm-up
      if (step_tokens > long_) {
        first_token(bench, device, engine, false);
        first_token(bench, device, engine, true);
      }
      longest_gap(bench, device, engine, step_tokens);
    }
  }

  template <class Device>
  void first_token(Bench& bench, Device& device, Engine<Device>& engine, bool cached) {
    std::vector<int32_t> beginning = random_ids(shared_);
    run_alone(engine, request(beginning, 1));
    std::vector<double> seconds;
    int64_t computed = 0;
    for (int64_t round = 0; round < rounds_; ++round) {
      if (!cached) beginning = random_ids(shared_);
      std::vector<int32_t> prompt = beginning;
      const std::vector<int32_t> own = random_ids(own_);
      prompt.insert(prompt.end(), own.begin(), own.end());
      const int64_t before = engine.figures().computed;
      seconds.push_back(run_alone(engine, request(prompt, 1)).prompt_seconds);
      computed = engine.figures().computed - before;
    }
    std::nth_element(seconds.begin(), seconds.begin() + rounds_ / 2, seconds.end());
    BenchResult result;
    result.name = cached ? "first token, cached beginning" : "first token, new beginning";
    result.shape = std::to_string(shared_) + " + " + std::to_string(own_) + " tokens";
    result.seconds = seconds[static_cast<size_t>(rounds_ / 2)];
    result.repetitions = static_cast<int>(rounds_);
    result.figures = {{"computed_tokens", static_cast<double>(computed), "", ""}};
    bench.record(device, std::move(result));
  }

  // An answer is written, a long prompt arrives: the longest time between two tokens of the answer, until the
  // prompt has got its own first token.
  template <class Device>
  void longest_gap(Bench& bench, Device& device, Engine<Device>& engine, int64_t step_tokens) {
    const RequestId runs = engine.add(request(random_ids(own_), kRunningTokens));
    for (int i = 0; i < 4; ++i) engine.step();
    const int64_t steps = engine.figures().steps;
    const Timer timer;
    const RequestId arrives = engine.add(request(random_ids(long_), 1));
    double last = 0, longest = 0;
    for (bool first = false; !first;) {
      for (const RequestOutput& output : engine.step()) {
        if (!output.result.error.empty()) fail(output.result.error);
        first = first || output.id == arrives;
      }
      const double now = timer.seconds();  // every step brings the running answer a token
      longest = std::max(longest, now - last);
      last = now;
    }
    BenchResult result;
    result.name = "longest gap";
    result.shape = "prompt of " + std::to_string(long_) + ", steps of " + std::to_string(step_tokens);
    result.seconds = longest;
    result.repetitions = 1;
    result.figures = {{"first_token_milliseconds", 1e3 * last, "ms", ""},
                      {"steps", static_cast<double>(engine.figures().steps - steps), "", ""}};
    bench.record(device, std::move(result));
    engine.abort(runs);
    while (!engine.idle()) engine.step();
  }

  int64_t shared_ = 256, own_ = 16, long_ = 512, rounds_ = 3;
  int64_t context_ = 0;
  uint64_t drawn_ = 0;
  std::shared_ptr<const ModelFile> model_;
};

RUNG_BENCH(PrefixBench);

}  // namespace

}  // namespace rung
