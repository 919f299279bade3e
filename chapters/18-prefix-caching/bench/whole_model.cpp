#include "bench/whole_model.h"

#include "model_file/dummy_model.h"
#include "tokenizer/vocabulary.h"

namespace rung {

void WholeModel::add(CommandLine& line) {
  if (added_) return;
  added_ = true;
  line.option("--pass-tokens", pass_tokens, "Most tokens of one forward pass");
  line.range(1, 1e6);
  line.option("--dummy", config,
              "Measure the shape in this Hugging Face config.json with random weights instead of -m");
  line.option("--dummy-type", dummy_type, "Type of the random weights");
  line.choices({"f32", "f16", "bf16"});
  weights.add(line);
  cache.add(line);
}

std::shared_ptr<const ModelFile> WholeModel::open(const BenchSettings& settings) const {
  if (config.empty()) return open_model(settings.model);
  return dummy_model(config, dummy_type == "f32"   ? DType::f32
                             : dummy_type == "f16" ? DType::f16
                                                   : DType::bf16);
}

Tokenizer WholeModel::tokenizer(const ModelFile& model) const {
  if (config.empty()) return load_tokenizer(model);
  Tokenizer::Vocabulary vocabulary;
  vocabulary.source = config;
  vocabulary.tokens.resize(static_cast<size_t>(model.hyperparameters().vocabulary));
  vocabulary.types.resize(vocabulary.tokens.size(), TokenType::unused);
  vocabulary.tokens[0] = "a";  // a vocabulary without any byte would be refused
  vocabulary.types[0] = TokenType::normal;
  return Tokenizer(std::move(vocabulary));
}

WholeModel& whole_model() {
  static WholeModel model;
  return model;
}

}  // namespace rung
