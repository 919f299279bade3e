// The flags that say how tokens are chosen.
#pragma once

#include <memory>

#include "engine/sampler.h"
#include "rung/command_line.h"

namespace rung {

struct SamplingOption {
  SamplingParameters parameters;

  void add(CommandLine& line);
  // Checks the values; without --seed takes one from the system's source of
  // randomness.
  const SamplingParameters& resolve();

 private:
  std::unique_ptr<CommandLine> line_;
};

}  // namespace rung
