// The sampling flags and their defaults.
#include "commands/options/sampling_option.h"

#include <random>

namespace rung {

void SamplingOption::add(CommandLine& line) {
  line_ = std::make_unique<CommandLine>(line);
  line.option("--temperature", parameters.temperature,
              "0: always the most probable token; higher: more varied");
  line.option("--top-k", parameters.top_k, "Choose among the k most probable tokens; 0: all");
  line.option("--top-p", parameters.top_p,
              "Choose among the most probable tokens that make up this probability; 1: all");
  line.option("--min-p", parameters.min_p,
              "Leave out tokens less probable than this fraction of the most probable; 0: none");
  line.option("--repetition-penalty", parameters.repetition_penalty,
              "Over 1: makes tokens seen before less probable");
  line.option("--seed", parameters.seed, "The same seed gives the same text; without it each run differs");
}

const SamplingParameters& SamplingOption::resolve() {
  check_sampling(parameters);
  if (!line_->given("--seed")) parameters.seed = std::random_device{}();
  return parameters;
}

}  // namespace rung
