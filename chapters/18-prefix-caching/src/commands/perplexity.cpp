// `perplexity`: how well the model foretells a text.
#include "engine/perplexity.h"

#include <algorithm>
#include <iostream>

#include <nlohmann/json.hpp>

#include "commands/options/device_option.h"
#include "commands/options/model_option.h"
#include "commands/options/tokenizer_warnings.h"
#include "commands/options/weight_option.h"
#include "rung/error.h"
#include "rung/mapped_file.h"
#include "rung/progress.h"
#include "rung/table.h"
#include "tokenizer/tokenizer.h"

namespace rung {

namespace {

// Tokens of one pass, and so rows of logits that are kept at once.
constexpr int64_t kPassTokens = 128;

class PerplexityCommand : public Command {
 public:
  const char* name() const override { return "perplexity"; }
  const char* summary() const override { return "Measure how well the model foretells a text"; }

  void options(CommandLine& line) override {
    model_.add(line);
    line.option("--file", file_, "The text, taken byte for byte");
    line.required();
    line.option(
        "--context", context_,
        "Tokens of each window; the windows do not overlap, and the first token of each is not scored");
    line.range(2, 1e9);
    line.flag("--json", json_, "Print one JSON object");
    weights_.add(line);
    device_.add(line);
  }

  int run() override {
    const std::shared_ptr<const ModelFile> model = model_.open();
    const int64_t longest = model->hyperparameters().context_length;
    if (context_ > longest)
      fail("--context ", context_, ": this model was made for at most ", longest, " tokens");
    const Tokenizer tokenizer = load_tokenizer(*model);
    const std::vector<int32_t> ids = encode_file(tokenizer);
    if (ids.size() < 2) {
      fail(file_, ": has ", ids.size(), ids.size() == 1 ? " token" : " tokens", ", expected at least 2");
    }
    print_warnings(tokenizer);
    const int64_t window = std::min(context_, static_cast<int64_t>(ids.size()));
    const std::vector<double> scores = device_.visit([&](auto& device) {
      const int64_t pass = std::min(window - 1, kPassTokens);
      Transformer transformer(device, model, pass, pass, weights_.type());
      KvCache cache(device, model->hyperparameters(), window - 1, transformer.kv_type());
      Progress progress("perplexity", ids.size());
      return score_windows(transformer, cache, ids, window, [&](size_t done) { progress.advance_to(done); });
    });
    print(perplexity(scores), ids.size(), scores.size());
    return 0;
  }

 private:
  std::vector<int32_t> encode_file(const Tokenizer& tokenizer) const {
    const MappedFile file(file_);
    const Span<const uint8_t> bytes = file.bytes();
    return tokenizer.encode({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }

  void print(const Perplexity& result, size_t tokens, size_t scored) const {
    if (json_) {
      const nlohmann::ordered_json object = {
          {"perplexity", result.value},  // written as null where it is not finite
          {"standard_error", result.standard_error},
          {"mean_log_probability", result.mean_log_probability},
          {"tokens", tokens},
          {"tokens_scored", scored},
          {"context", context_},
      };
      std::cout << object.dump() << "\n";
      return;
    }
    std::cout << "perplexity " << fixed(result.value, 4) << " ± " << fixed(result.standard_error, 4) << " ("
              << scored << " of " << tokens << " tokens scored, in windows of " << context_ << ")\n";
  }

  ModelOption model_;
  std::string file_;
  int64_t context_ = 512;
  bool json_ = false;
  WeightOption weights_;
  DeviceOption device_;
};

RUNG_COMMAND(PerplexityCommand);

}  // namespace

}  // namespace rung
