// `chat`: a conversation with the model, or the answer to one question.
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <optional>

#include "commands/chat_input.h"
#include "commands/generation_figures.h"
#include "commands/interrupt.h"
#include "commands/options/cache_option.h"
#include "commands/options/chat_option.h"
#include "commands/options/device_option.h"
#include "commands/options/model_option.h"
#include "commands/options/sampling_option.h"
#include "commands/options/tokenizer_warnings.h"
#include "commands/options/weight_option.h"
#include "engine/generate.h"
#include "engine/stop_strings.h"
#include "rung/error.h"

namespace rung {

namespace {

constexpr const char* kHelp =
    "  /clear   forgets the conversation\n"
    "  /exit    ends (so do Ctrl-D, and Ctrl-C twice)\n"
    "  Ctrl-C   stops an answer; clears what you have typed\n"
    "  A line that ends in \\ goes on in the next one; \"\"\" alone on a line begins and ends a block of "
    "lines.\n";

class Chat : public Command {
 public:
  const char* name() const override { return "chat"; }
  const char* summary() const override { return "Talk with the model"; }

  void options(CommandLine& line) override {
    line_ = std::make_unique<CommandLine>(line);
    line.option("question", question_, "Answer this one question; without it a conversation begins");
    model_.add(line);
    line.option("--system", system_, "Says to the model what it should be, before the conversation");
    line.option("-n,--max-tokens", request_.max_tokens, "Most tokens of an answer");
    line.range(0, 1e9);
    sampling_.add(line);
    line.option("--stop", request_.stop, "End an answer before this text; may be given several times");
    template_.add(line);
    cache_.add(line);
    weights_.add(line);
    device_.add(line);
  }

  int run() override {
    request_.sampling = sampling_.resolve();
    check_stop_strings(request_.stop);
    if (line_->given("question") && is_blank(question_)) fail("chat: the question is empty");
    const std::shared_ptr<const ModelFile> model = model_.open();
    const Tokenizer tokenizer = load_tokenizer(*model);
    const int64_t context = cache_.resolve(model->hyperparameters());
    // Without a question too, so that an unknown template is an error now and not after typing.
    request_.prompt_ids = template_.ids(tokenizer, with_question({}, question_));
    if (line_->given("question")) check_prompt(request_.prompt_ids, context);
    print_warnings(tokenizer);
    return device_.visit([&](auto& device) {
      Transformer transformer(device, model, kPrefillTokens, 1, weights_.type());
      KvCache cache = cache_.make(transformer, context);
      Engine engine(transformer, cache, tokenizer);
      request_.cancelled = &Interrupt::flag();
      std::optional<Interrupt> interrupt;  // before there is an answer to keep, Ctrl-C ends the program
      const auto answer = [&](const GenerationRequest& request) {
        return generate(engine, request, [&](std::string_view text) {
          if (!interrupt) interrupt.emplace();
          std::cout << text << std::flush;
        });
      };
      if (line_->given("question")) return answer_once(answer);
      interrupt.emplace();
      return converse(tokenizer, context, *interrupt, answer);
    });
  }

 private:
  std::vector<Message> with_question(std::vector<Message> messages, const std::string& question) const {
    if (messages.empty() && line_->given("--system")) messages.push_back({"system", system_});
    messages.push_back({"user", question});
    return messages;
  }

  template <class Answer>
  int answer_once(const Answer& answer) {
    const Generation result = answer(request_);
    std::cout << "\n";
    std::cerr << "rung: " << generation_figures(request_, result) << "\n";
    return result.finish_reason == FinishReason::aborted ? kInterruptedStatus : 0;
  }

  template <class Answer>
  int converse(const Tokenizer& tokenizer, int64_t context, Interrupt& interrupt, const Answer& answer) {
    const bool typed = isatty(STDIN_FILENO) != 0;
    if (typed) std::cerr << "Ask something; /help says what else there is.\n";
    LineReader reader;
    std::vector<Message> messages;
    int interrupts_in_a_row = 0;
    for (;;) {
      interrupt.clear();
      const ChatInput input = read_chat_input([&](std::string& line) { return reader.read(line); },
                                              [&](bool goes_on) {
                                                if (typed) std::cerr << (goes_on ? "… " : "> ") << std::flush;
                                              });
      if (input.kind == ChatInput::Kind::end) {
        if (typed) std::cerr << "\n";
        return 0;
      }
      if (input.kind == ChatInput::Kind::interrupted) {
        if (++interrupts_in_a_row == 2) return kInterruptedStatus;
        std::cerr << "\n(Ctrl-C once more, Ctrl-D or /exit ends)\n";
        continue;
      }
      interrupts_in_a_row = 0;
      if (input.kind == ChatInput::Kind::command) {
        if (input.text == "/exit") return 0;
        if (input.text == "/clear") messages.clear();
        if (input.text == "/help") std::cerr << kHelp;
        if (input.text == "/clear") std::cerr << "(the conversation is forgotten)\n";
        if (input.text != "/clear" && input.text != "/help") {
          std::cerr << "rung: there is no command " << input.text << "; /help lists them\n";
        }
        continue;
      }
      messages = answer_turn(tokenizer, context, with_question(messages, input.text), answer);
    }
  }

  // The conversation with the answer to its last message, or without that message if there was no answer.
  template <class Answer>
  std::vector<Message> answer_turn(const Tokenizer& tokenizer, int64_t context, std::vector<Message> messages,
                                   const Answer& answer) {
    GenerationRequest request = request_;
    request.prompt_ids = template_.ids(tokenizer, messages);
    request.sampling.seed += turn_++;
    if (static_cast<int64_t>(request.prompt_ids.size()) > context) {
      std::cerr << "rung: with this question the conversation has " << request.prompt_ids.size()
                << " tokens and the context has space for " << context
                << ": the question was left out, the conversation stands; /clear begins a new one\n";
      messages.pop_back();
      return messages;
    }
    const Generation result = answer(request);
    std::cout << "\n" << std::flush;
    if (result.finish_reason == FinishReason::aborted) std::cerr << "(stopped)\n";
    if (result.finish_reason == FinishReason::length) {
      const auto tokens = static_cast<int64_t>(request.prompt_ids.size() + result.output_ids.size());
      if (tokens > context) {
        std::cerr << "(the context of " << context << " tokens is full; /clear begins a new conversation)\n";
      } else {
        std::cerr << "(cut after " << result.output_ids.size() << " tokens: --max-tokens)\n";
      }
    }
    if (result.text.empty()) {
      messages.pop_back();
    } else {
      messages.push_back({"assistant", result.text});
    }
    return messages;
  }

  std::unique_ptr<CommandLine> line_;
  std::string question_, system_;
  uint64_t turn_ = 0;  // each answer draws from a stream of its own
  ModelOption model_;
  SamplingOption sampling_;
  ChatOption template_;
  CacheOption cache_;
  WeightOption weights_;
  DeviceOption device_;
  GenerationRequest request_ = [] {
    GenerationRequest request;
    request.max_tokens = 1024;
    return request;
  }();
};

RUNG_COMMAND(Chat);

}  // namespace

}  // namespace rung
