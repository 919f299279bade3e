// A mix of requests with lengths as different as those of a real crowd: for measuring what batching wastes.
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include "engine/request.h"
#include "rung/command_line.h"
#include "rung/device.h"

namespace rung {

struct RequestMix {
  int64_t requests = 16;
  int64_t least_prompt = 4, most_prompt = 64;  // tokens, every length equally likely
  int64_t least_output = 4, most_output = 64;
  uint64_t seed = 1;

  void add(CommandLine& line);
  // Greedy requests for exactly so many tokens, their prompts random ids. The same seed gives the same mix.
  std::vector<GenerationRequest> make(int64_t vocabulary) const;

  // Other requests, to be answered before anything is measured. A GPU loads a kernel when it is first
  // launched, and memory grows with the first large pass: there as many as the mix has, elsewhere one.
  template <class Device>
  std::vector<GenerationRequest> warm_up(const Device&, int64_t vocabulary) const {
    RequestMix other = *this;
    ++other.seed;
    if (kCudaEmulated || std::is_same_v<Device, Cpu>) other.requests = 1;
    return other.make(vocabulary);
  }
};

}  // namespace rung
