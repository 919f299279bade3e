// Whole-model speed at batch 1: a prompt through prefill, then tokens one at a time.
#include <algorithm>
#include <numeric>

#include "bench/whole_model.h"
#include "engine/token_choice.h"
#include "rung/bench.h"
#include "rung/error.h"
#include "rung/table.h"
#include "rung/timer.h"
#include "tensor/device_tensor.h"

namespace rung {

namespace {

// FNV-1a (Fowler, Noll, Vo) over the bits of the logits: two runs that compute the same print the same.
std::string hash(const Tensor& logits) {
  uint64_t value = 0xcbf29ce484222325u;
  const auto* bytes = static_cast<const unsigned char*>(logits.raw());
  for (size_t i = 0; i < logits.bytes(); ++i) value = (value ^ bytes[i]) * 0x100000001b3u;
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

class GenerateBench : public BenchPart {
 public:
  const char* name() const override { return "generate"; }
  const char* summary() const override { return "prefill and decode of a whole model, one sequence"; }
  int level() const override { return 1; }

  void options(CommandLine& line) override {
    line.option("--prompt-tokens", prompt_tokens_, "Tokens of the prompt that prefill is timed on");
    line.range(1, 1e6);
    line.option("--decode-tokens", decode_tokens_, "Tokens that decode is timed on");
    line.range(1, 1e6);
    line.option("--repeat", repeat_, "Times that both are measured; the median counts");
    line.range(1, 1000);
    whole_model().add(line);
  }

  void prepare(const BenchSettings& settings) override {
    model_ = whole_model().open(settings);
    const int64_t wanted = prompt_tokens_ + decode_tokens_;
    context_ = whole_model().cache.resolve(model_->hyperparameters(), wanted);
    if (context_ < wanted) {
      fail("a prompt of ", prompt_tokens_, " tokens and ", decode_tokens_, " more need a context of ", wanted,
           "; this one has ", context_);
    }
  }

  void run(Bench& bench, Cpu& device) override { measure(bench, device); }
  void run(Bench& bench, Cuda& device) override { measure(bench, device); }

 private:
  template <class Device>
  void measure(Bench& bench, Device& device) {
    const WholeModel& whole = whole_model();
    Transformer<Device> transformer(device, model_, std::min(whole.pass_tokens, prompt_tokens_), 1,
                                    whole.weights.type());
    KvCache cache = whole.cache.make(transformer, context_);
    const Hyperparameters& h = model_->hyperparameters();
    std::vector<int32_t> prompt(static_cast<size_t>(prompt_tokens_));
    for (size_t i = 0; i < prompt.size(); ++i)
      prompt[i] = static_cast<int32_t>((i * 7919 + 1) % static_cast<size_t>(h.vocabulary));

    std::vector<int32_t> blocks(static_cast<size_t>(cache.blocks()));
    std::iota(blocks.begin(), blocks.end(), 0);
    std::vector<double> prefill_seconds, decode_seconds;
    TokenChooser<Device> chooser(device, 1);
    Tensor logits;
    // The first round warms caches and allocations up and is not counted.
    for (int64_t round = 0; round <= repeat_; ++round) {
      Timer timer;
      int32_t token = 0;
      for (int64_t begin = 0; begin < prompt_tokens_; begin += transformer.max_tokens()) {
        token =
            next(transformer,
                 part_of_sequence(prompt, begin, std::min(begin + transformer.max_tokens(), prompt_tokens_)),
                 cache, chooser, logits);
      }
      const double prefill = timer.seconds();
      timer.restart();
      for (int64_t i = 0; i < decode_tokens_; ++i) {
        Batch batch;
        batch.block_size = cache.block_size();
        batch.add({&token, 1}, prompt_tokens_ + i, blocks);
        batch.want_logits();
        token = next(transformer, batch, cache, chooser, logits);
      }
      if (round == 0) continue;
      prefill_seconds.push_back(prefill);
      decode_seconds.push_back(timer.seconds());
    }
    const double weights = static_cast<double>(transformer.weight_bytes());
    const double per_token = static_cast<double>(cache.bytes()) / static_cast<double>(cache.slots());
    const double operations = 2.0 * parameters(h) * static_cast<double>(prompt_tokens_);
    report(bench, device, "prefill", prompt_tokens_, prefill_seconds, Work{}, [&](double seconds) {
      return Figure{"tflops", operations / seconds * 1e-12, "TFLOP/s", ""};
    });
    // Each step reads all weights and the keys and values of all tokens before it.
    const double read = static_cast<double>(decode_tokens_) *
                        (weights + per_token * (static_cast<double>(prompt_tokens_) +
                                                0.5 * static_cast<double>(decode_tokens_)));
    report(bench, device, "decode", decode_tokens_, decode_seconds, Work{read}, [&](double) {
      return Figure{"logits_hash", 0, "", hash(download(device, logits))};
    });
  }

  // One pass and the most probable token after it.
  template <class Device>
  static int32_t next(Transformer<Device>& transformer, const Batch& batch, KvCache& cache,
                      TokenChooser<Device>& chooser, Tensor& logits) {
    SamplingParameters greedy;
    greedy.temperature = 0;
    logits = transformer.forward(batch, cache);
    const TokenChoice choice = chooser.choose(logits, {{{}, greedy, 0, false}})[0];
    if (!choice.error.empty()) fail(choice.error);
    return choice.id;
  }

  // Weights that a token is multiplied with (the LM head, which works on one row only, left out).
  static double parameters(const Hyperparameters& h) {
    return static_cast<double>(h.layers) * h.hidden *
           (2.0 * h.query_width() + 2.0 * h.kv_width() + 3.0 * h.feed_forward);
  }

  // figure(seconds): what stands in the line behind tokens a second.
  template <class Device, class F>
  static void report(Bench& bench, Device& device, const std::string& name, int64_t tokens,
                     std::vector<double> seconds, Work work, const F& figure) {
    const auto middle = seconds.begin() + static_cast<int64_t>(seconds.size() / 2);
    std::nth_element(seconds.begin(), middle, seconds.end());
    BenchResult result;
    result.name = name;
    result.shape = std::to_string(tokens) + " tokens";
    result.seconds = *middle;
    result.repetitions = static_cast<int>(seconds.size());
    result.work = work;
    result.figures = {
        {"tokens_per_second", static_cast<double>(tokens) / result.seconds, "tok/s", ""},
        {"milliseconds_per_token", 1e3 * result.seconds / static_cast<double>(tokens), "ms", ""},
        figure(result.seconds)};
    bench.record(device, std::move(result));
  }

  int64_t prompt_tokens_ = 512, decode_tokens_ = 128, repeat_ = 3, context_ = 0;
  std::shared_ptr<const ModelFile> model_;
};

RUNG_BENCH(GenerateBench);

}  // namespace

}  // namespace rung
