// `generate`: a prompt in, the model's continuation out.
#include <iostream>
#include <optional>

#include "commands/generation_figures.h"
#include "commands/interrupt.h"
#include "commands/options/device_option.h"
#include "commands/options/model_option.h"
#include "commands/options/prompt_option.h"
#include "commands/options/sampling_option.h"
#include "commands/options/tokenizer_warnings.h"
#include "commands/options/weight_option.h"
#include "engine/generate.h"
#include "engine/stop_strings.h"
#include "rung/error.h"

namespace rung {

namespace {

class Generate : public Command {
 public:
  const char* name() const override { return "generate"; }
  const char* summary() const override { return "Go on from a prompt"; }

  void options(CommandLine& line) override {
    model_.add(line);
    prompt_.add(line);
    line.option("-n,--max-tokens", request_.max_tokens, "Most tokens to generate");
    line.range(0, 1e9);
    line.flag("--ignore-eos", request_.ignore_eos, "Go on after the model has ended its answer");
    sampling_.add(line);
    line.option("--stop", request_.stop, "End before this text; may be given several times");
    line.flag("--logprobs", request_.log_probabilities,
              "With --json: the natural logarithm of the probability of each token");
    line.flag("--json", json_,
              "Print one JSON object with ids, text, finish reason, seed, timings and peak memory");
    weights_.add(line);
    device_.add(line);
  }

  int run() override {
    request_.sampling = sampling_.resolve();
    check_stop_strings(request_.stop);
    if (request_.log_probabilities && !json_)
      fail("--logprobs needs --json: there is no other place to print them");
    const std::shared_ptr<const ModelFile> model = model_.open();
    const Tokenizer tokenizer = load_tokenizer(*model);
    request_.prompt_ids = prompt_.ids(tokenizer);
    const int64_t context =
        std::min<int64_t>(model->hyperparameters().context_length,
                          static_cast<int64_t>(request_.prompt_ids.size()) + request_.max_tokens);
    check_prompt(request_.prompt_ids, context);
    print_warnings(tokenizer);
    const Generation result = device_.visit([&](auto& device) {
      Transformer transformer(device, model, context, 1, weights_.type());
      request_.cancelled = &Interrupt::flag();
      std::optional<Interrupt> interrupt;  // before there is a text to keep, Ctrl-C ends the program
      return generate(transformer, tokenizer, request_, [&](std::string_view text) {
        if (!interrupt) interrupt.emplace();
        if (!json_) std::cout << text << std::flush;
      });
    });
    if (json_) {
      std::cout << generation_json(request_, result) << "\n";
    } else {
      std::cout << "\n";
      std::cerr << "rung: " << generation_figures(request_, result) << "\n";
    }
    return result.finish_reason == FinishReason::aborted ? kInterruptedStatus : 0;
  }

 private:
  ModelOption model_;
  PromptOption prompt_;
  SamplingOption sampling_;
  WeightOption weights_;
  DeviceOption device_;
  GenerationRequest request_;
  bool json_ = false;
};

RUNG_COMMAND(Generate);

}  // namespace

}  // namespace rung
