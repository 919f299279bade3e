// `generate`: a prompt in, the model's continuation out; or a file of requests in, a line for each out.
#include <algorithm>
#include <iostream>
#include <optional>

#include "commands/generation_figures.h"
#include "commands/interrupt.h"
#include "commands/options/cache_option.h"
#include "commands/options/device_option.h"
#include "commands/options/model_option.h"
#include "commands/options/prompt_option.h"
#include "commands/options/sampling_option.h"
#include "commands/options/tokenizer_warnings.h"
#include "commands/options/weight_option.h"
#include "commands/request_lines.h"
#include "engine/generate.h"
#include "engine/static_batch.h"
#include "engine/stop_strings.h"
#include "rung/error.h"
#include "rung/timer.h"

namespace rung {

namespace {

class Generate : public Command {
 public:
  const char* name() const override { return "generate"; }
  const char* summary() const override { return "Go on from a prompt, or answer a file of requests"; }

  void options(CommandLine& line) override {
    model_.add(line);
    prompt_.add(line);
    line.option("--prompts", prompts_file_,
                "Answer a file of requests: one JSON object a line in, one a line out, in order");
    line.excludes("--prompt");
    line.excludes("--prompt-file");
    line.excludes("--messages");
    line.option("--batch", batch_, "With --prompts: requests that run together");
    line.range(1, 65536);
    line.option("-n,--max-tokens", request_.max_tokens, "Most tokens to generate");
    line.range(0, 1e9);
    line.flag("--ignore-eos", request_.ignore_eos, "Go on after the model has ended its answer");
    sampling_.add(line);
    line.option("--stop", request_.stop, "End before this text; may be given several times");
    line.flag("--logprobs", request_.log_probabilities,
              "With --json: the natural logarithm of the probability of each token");
    line.flag("--json", json_,
              "Print one JSON object with ids, text, finish reason, seed, timings and peak memory");
    cache_.add(line);
    weights_.add(line);
    device_.add(line);
  }

  int run() override {
    request_.sampling = sampling_.resolve();
    check_stop_strings(request_.stop);
    if (request_.log_probabilities && !json_ && prompts_file_.empty())
      fail("--logprobs needs --json: there is no other place to print them");
    const std::shared_ptr<const ModelFile> model = model_.open();
    const Tokenizer tokenizer = load_tokenizer(*model);
    return prompts_file_.empty() ? answer_one(model, tokenizer) : answer_all(model, tokenizer);
  }

 private:
  int answer_one(const std::shared_ptr<const ModelFile>& model, const Tokenizer& tokenizer) {
    request_.prompt_ids = prompt_.ids(tokenizer);
    const auto prompt_tokens = static_cast<int64_t>(request_.prompt_ids.size());
    const int64_t context = cache_.resolve(model->hyperparameters(), prompt_tokens + request_.max_tokens);
    check_prompt(request_.prompt_ids, context);
    print_warnings(tokenizer);
    const Generation result = device_.visit([&](auto& device) {
      Transformer transformer(device, model, std::min(prompt_tokens, kPrefillTokens), 1, weights_.type());
      KvCache cache = cache_.make(transformer, context);
      std::vector<int32_t> cached;
      request_.cancelled = &Interrupt::flag();
      std::optional<Interrupt> interrupt;  // before there is a text to keep, Ctrl-C ends the program
      return generate(transformer, cache, cached, tokenizer, request_, [&](std::string_view text) {
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

  int answer_all(const std::shared_ptr<const ModelFile>& model, const Tokenizer& tokenizer) {
    std::vector<RequestLine> lines = read_request_lines(prompts_file_, tokenizer, prompt_.chat, request_);
    const int64_t rows = std::min(batch_, static_cast<int64_t>(lines.size()));
    int64_t wanted = 1;
    for (RequestLine& line : lines) {
      line.request.cancelled = &Interrupt::flag();
      wanted =
          std::max(wanted, static_cast<int64_t>(line.request.prompt_ids.size()) + line.request.max_tokens);
    }
    const int64_t context = cache_.resolve(model->hyperparameters(), wanted, 1);
    print_warnings(tokenizer);
    int64_t failed = 0, output_tokens = 0;
    BatchFigures figures;
    Timer timer;
    device_.visit([&](auto& device) {
      Transformer transformer(device, model, std::max(kPrefillTokens, rows), rows, weights_.type());
      KvCache cache = cache_.make(transformer, context, rows);
      const Interrupt interrupt;  // while the model is loaded, Ctrl-C ends the program
      timer.restart();
      for (size_t begin = 0; begin < lines.size(); begin += static_cast<size_t>(rows)) {
        const size_t end = std::min(begin + static_cast<size_t>(rows), lines.size());
        std::vector<GenerationRequest> requests;
        for (size_t i = begin; i < end; ++i) {
          if (lines[i].error.empty()) requests.push_back(lines[i].request);
        }
        const std::vector<Generation> results =
            generate_batch(transformer, cache, tokenizer, requests, figures);
        size_t next = 0;
        for (size_t i = begin; i < end; ++i) {
          if (lines[i].error.empty()) {
            const Generation& result = results[next++];
            output_tokens += static_cast<int64_t>(result.output_ids.size());
            lines[i].error = result.error;
            if (result.error.empty()) std::cout << generation_json(lines[i].request, result) << "\n";
          }
          if (lines[i].error.empty()) continue;
          ++failed;
          std::cout << error_json(lines[i].error) << "\n";
        }
        std::cout << std::flush;
      }
    });
    std::cerr << "rung: " << batch_figures_text(lines.size(), output_tokens, timer.seconds(), figures)
              << "\n";
    if (failed > 0) std::cerr << "rung: " << failed << " of the requests failed; their lines say why\n";
    return Interrupt::flag() ? kInterruptedStatus : failed > 0 ? 1 : 0;
  }

  ModelOption model_;
  PromptOption prompt_;
  std::string prompts_file_;
  int64_t batch_ = 8;
  SamplingOption sampling_;
  CacheOption cache_;
  WeightOption weights_;
  DeviceOption device_;
  GenerationRequest request_;
  bool json_ = false;
};

RUNG_COMMAND(Generate);

}  // namespace

}  // namespace rung
