// A mix of requests with lengths as different as those of a real crowd: for measuring what batching wastes.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/request.h"
#include "rung/command_line.h"

namespace rung {

struct RequestMix {
  int64_t requests = 16;
  int64_t least_prompt = 4, most_prompt = 64;  // tokens, every length equally likely
  int64_t least_output = 4, most_output = 64;
  uint64_t seed = 1;

  void add(CommandLine& line);
  // Greedy requests for exactly so many tokens, their prompts random ids. The same seed gives the same mix.
  std::vector<GenerationRequest> make(int64_t vocabulary) const;
};

}  // namespace rung
