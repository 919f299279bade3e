// `generate`: a prompt in, the model's continuation out; or a file of requests in, a line for each out.
#include <algorithm>
#include <iostream>
#include <map>
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
#include "engine/record.h"
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
    line.option("--batch", batch_, "With --prompts: most requests that run at once");
    line.range(1, 65536);
    line.option("--step-tokens", step_tokens_,
                "Most tokens of one step, in which prompts share what answers leave of it");
    line.range(1, 1e6);
    line.option("--record", record_file_,
                "With --prompts: write which requests had which blocks in each step, as JSON");
    line.option("--answers", request_.answers, "Answers to the prompt, each with a seed of its own");
    line.range(1, static_cast<double>(kMostAnswers));
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
    if (request_.answers > 1 && !json_ && prompts_file_.empty())
      fail("--answers needs --json: it prints one line for each answer");
    if (!record_file_.empty() && prompts_file_.empty()) fail("--record needs --prompts");
    const std::shared_ptr<const ModelFile> model = model_.open();
    const Tokenizer tokenizer = load_tokenizer(*model);
    if (!prompts_file_.empty())
      return answer_all(model, tokenizer,
                        read_request_lines(prompts_file_, tokenizer, prompt_.chat, request_));
    return request_.answers == 1 ? answer_one(model, tokenizer) : answer_several(model, tokenizer);
  }

 private:
  int answer_one(const std::shared_ptr<const ModelFile>& model, const Tokenizer& tokenizer) {
    request_.prompt_ids = prompt_.ids(tokenizer);
    const auto prompt_tokens = static_cast<int64_t>(request_.prompt_ids.size());
    const int64_t context = cache_.resolve(model->hyperparameters(), prompt_tokens + request_.max_tokens);
    check_prompt(request_.prompt_ids, context);
    print_warnings(tokenizer);
    const Generation result = device_.visit([&](auto& device) {
      Transformer transformer(device, model, std::min(prompt_tokens, step_tokens_), 1, weights_.type());
      KvCache cache = cache_.make(transformer, context);
      Engine engine(transformer, cache, tokenizer);
      request_.cancelled = &Interrupt::flag();
      std::optional<Interrupt> interrupt;  // before there is a text to keep, Ctrl-C ends the program
      return generate(engine, request_, [&](std::string_view text) {
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

  int answer_several(const std::shared_ptr<const ModelFile>& model, const Tokenizer& tokenizer) {
    request_.prompt_ids = prompt_.ids(tokenizer);
    const auto prompt_tokens = static_cast<int64_t>(request_.prompt_ids.size());
    check_prompt(request_.prompt_ids,
                 cache_.resolve(model->hyperparameters(), prompt_tokens + request_.max_tokens));
    return answer_all(model, tokenizer,
                      {{request_, std::vector<std::string>(static_cast<size_t>(request_.answers)), ""}});
  }

  int answer_all(const std::shared_ptr<const ModelFile>& model, const Tokenizer& tokenizer,
                 std::vector<RequestLine> lines) {
    Recorder recorder(record_file_);
    int64_t wanted = 1, answers = 0, most_answers = 1;
    for (RequestLine& line : lines) {
      line.request.cancelled = &Interrupt::flag();
      wanted =
          std::max(wanted, static_cast<int64_t>(line.request.prompt_ids.size()) + line.request.max_tokens);
      answers += line.request.answers;
      most_answers = std::max(most_answers, line.request.answers);
    }
    const int64_t rows = std::max(std::min(batch_, answers), most_answers);
    const int64_t context = cache_.resolve(model->hyperparameters(), wanted, 1);
    print_warnings(tokenizer);
    int64_t failed = 0, output_tokens = 0;
    EngineFigures figures;
    Timer timer;
    device_.visit([&](auto& device) {
      Transformer transformer(device, model, std::max(step_tokens_, rows), rows, weights_.type());
      KvCache cache = cache_.make(transformer, context, rows);
      Engine engine(transformer, cache, tokenizer);
      if (recorder.wanted()) {
        engine.observe([&](const Scheduler& scheduler, const std::vector<ScheduledTokens>& step) {
          recorder.step(scheduler, step);
        });
      }
      std::map<RequestId, RequestLine*> line_of;
      const Interrupt interrupt;  // while the model is loaded, Ctrl-C ends the program
      timer.restart();
      for (RequestLine& line : lines) {
        if (line.error.empty()) line_of[engine.add(line.request)] = &line;
      }
      // Each answer is printed as soon as it and all before it have ended.
      size_t line = 0, answer = 0;
      const auto print_ended = [&] {
        while (line < lines.size() && !lines[line].results[answer].empty()) {
          std::cout << lines[line].results[answer] << std::endl;
          if (++answer == lines[line].results.size()) ++line, answer = 0;
        }
      };
      for (print_ended(); !engine.idle(); print_ended()) {
        for (RequestOutput& output : engine.step()) {
          if (!output.ended) continue;
          RequestLine& ended = *line_of.at(output.id);
          recorder.ended(output.id + output.answer, output.result.finish_reason);
          output_tokens += static_cast<int64_t>(output.result.output_ids.size());
          ended.results[static_cast<size_t>(output.answer)] =
              output.result.error.empty() ? generation_json(ended.request, output.result, output.answer)
                                          : error_json(output.result.error);
          if (!output.result.error.empty()) ended.error = output.result.error;
        }
      }
      recorder.write(engine.scheduler());
      figures = engine.figures();
    });
    for (const RequestLine& line : lines) failed += line.error.empty() ? 0 : 1;
    std::cerr << "rung: " << engine_figures_text(lines.size(), output_tokens, timer.seconds(), figures)
              << "\n";
    if (failed > 0) std::cerr << "rung: " << failed << " of the requests failed; their lines say why\n";
    return Interrupt::flag() ? kInterruptedStatus : failed > 0 ? 1 : 0;
  }

  ModelOption model_;
  PromptOption prompt_;
  std::string prompts_file_, record_file_;
  int64_t batch_ = 8, step_tokens_ = kPrefillTokens;
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
