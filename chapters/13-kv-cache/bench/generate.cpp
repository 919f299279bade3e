// Whole-model speed at batch 1: a prompt through prefill, then tokens one at a time.
#include <algorithm>

#include "commands/options/cache_option.h"
#include "commands/options/weight_option.h"
#include "model_file/dummy_model.h"
#include "ops/argmax.h"
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
    line.option("--pass-tokens", pass_tokens_, "Most tokens of one prefill pass");
    line.range(1, 1e6);
    line.option("--dummy", config_,
                "Measure the shape in this Hugging Face config.json with random weights instead of -m");
    line.option("--dummy-type", dummy_type_, "Type of the random weights");
    line.choices({"f32", "f16", "bf16"});
    weights_.add(line);
    cache_.add(line);
  }

  void prepare(const BenchSettings& settings) override {
    model_ = config_.empty() ? open_model(settings.model)
                             : dummy_model(config_, dummy_type_ == "f32"   ? DType::f32
                                                    : dummy_type_ == "f16" ? DType::f16
                                                                           : DType::bf16);
    const int64_t wanted = prompt_tokens_ + decode_tokens_;
    context_ = cache_.resolve(model_->hyperparameters(), wanted);
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
    Transformer<Device> transformer(device, model_, std::min(pass_tokens_, prompt_tokens_), 1,
                                    weights_.type());
    KvCache cache = cache_.make(transformer, context_);
    const Hyperparameters& h = model_->hyperparameters();
    std::vector<int32_t> prompt(static_cast<size_t>(prompt_tokens_));
    for (size_t i = 0; i < prompt.size(); ++i)
      prompt[i] = static_cast<int32_t>((i * 7919 + 1) % static_cast<size_t>(h.vocabulary));

    std::vector<double> prefill_seconds, decode_seconds;
    Tensor logits;
    // The first round warms caches and allocations up and is not counted.
    for (int64_t round = 0; round <= repeat_; ++round) {
      cache.truncate(0);
      Timer timer;
      int32_t token = 0;
      while (cache.length() < prompt_tokens_) {
        const int64_t begin = cache.length();
        token =
            next(transformer,
                 part_of_sequence(prompt, begin, std::min(begin + transformer.max_tokens(), prompt_tokens_)),
                 cache, logits);
      }
      const double prefill = timer.seconds();
      timer.restart();
      for (int64_t i = 0; i < decode_tokens_; ++i) {
        token = next(transformer, Batch{{token}, {static_cast<int32_t>(cache.length())}, {0}}, cache, logits);
      }
      if (round == 0) continue;
      prefill_seconds.push_back(prefill);
      decode_seconds.push_back(timer.seconds());
    }
    const double weights = static_cast<double>(transformer.weight_bytes());
    const double per_token = static_cast<double>(cache.bytes()) / static_cast<double>(cache.context());
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
  static int32_t next(Transformer<Device>& transformer, const Batch& batch, KvCache& cache, Tensor& logits) {
    Device& device = transformer.device();
    logits = transformer.forward(batch, cache);
    Tensor id = empty(device, DType::i32, {1});
    argmax(device, id, logits);
    const int32_t token = download(device, id).template data<int32_t>()[0];
    if (token < 0) fail("the model's logits are not numbers: its weights or its arithmetic are broken");
    return token;
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

  int64_t prompt_tokens_ = 512, decode_tokens_ = 128, repeat_ = 3, pass_tokens_ = kPrefillTokens;
  std::string config_, dummy_type_ = "bf16";
  WeightOption weights_;
  CacheOption cache_;
  std::shared_ptr<const ModelFile> model_;
  int64_t context_ = 0;
};

RUNG_BENCH(GenerateBench);

}  // namespace

}  // namespace rung
