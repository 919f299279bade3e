// The flags that all measurements of whole models share, and the model that they choose.
#pragma once

#include <memory>
#include <string>

#include "commands/options/cache_option.h"
#include "commands/options/weight_option.h"
#include "model_file/model_file.h"
#include "rung/bench.h"
#include "tokenizer/tokenizer.h"

namespace rung {

struct WholeModel {
  std::string config, dummy_type = "bf16";
  int64_t pass_tokens = kPrefillTokens;
  WeightOption weights;
  CacheOption cache;

  void add(CommandLine& line);  // by the first part that calls it; the others share what it adds
  // The model of -m, or one of the shape of --dummy with random weights.
  std::shared_ptr<const ModelFile> open(const BenchSettings& settings) const;
  // Its tokenizer; for random weights one whose tokens have no text.
  Tokenizer tokenizer(const ModelFile& model) const;

 private:
  bool added_ = false;
};

WholeModel& whole_model();

}  // namespace rung
