// `generate`: a prompt in, the model's continuation out.
#include <iostream>

#include <nlohmann/json.hpp>

#include "commands/options/device_option.h"
#include "commands/options/model_option.h"
#include "commands/options/prompt_option.h"
#include "commands/options/tokenizer_warnings.h"
#include "commands/options/weight_option.h"
#include "engine/generate.h"
#include "rung/error.h"
#include "rung/memory.h"
#include "rung/table.h"

namespace rung {

namespace {

std::string rate(size_t tokens, double seconds) {
  return std::to_string(tokens) + " tokens in " + fixed(seconds, 2) + " s (" +
         fixed(seconds > 0 ? static_cast<double>(tokens) / seconds : 0, 1) + " tok/s)";
}

nlohmann::ordered_json as_json(const GenerationRequest& request, const Generation& result) {
  return {
      {"prompt_ids", request.prompt_ids},
      {"output_ids", result.output_ids},
      {"text", result.text},
      {"finish_reason", name(result.finish_reason)},
      {"timings", {{"prompt_seconds", result.prompt_seconds}, {"decode_seconds", result.decode_seconds}}},
      {"peak_bytes", peak_memory()},
  };
}

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
    line.flag("--json", json_,
              "Print one JSON object with ids, text, finish reason, timings and peak memory");
    weights_.add(line);
    device_.add(line);
  }

  int run() override {
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
      return generate(transformer, tokenizer, request_, [&](std::string_view text) {
        if (!json_) std::cout << text << std::flush;
      });
    });
    if (json_) {
      std::cout << as_json(request_, result).dump() << "\n";
    } else {
      std::cout << "\n";
      std::cerr << "rung: prompt " << rate(request_.prompt_ids.size(), result.prompt_seconds) << ", then "
                << rate(result.output_ids.size() - !result.output_ids.empty(), result.decode_seconds)
                << "; ended by " << rung::name(result.finish_reason) << "\n";
    }
    return 0;
  }

 private:
  ModelOption model_;
  PromptOption prompt_;
  WeightOption weights_;
  DeviceOption device_;
  GenerationRequest request_;
  bool json_ = false;
};

RUNG_COMMAND(Generate);

}  // namespace

}  // namespace rung
