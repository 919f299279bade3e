#include "bench/request_mix.h"

#include <string>
#include <tuple>

#include "rung/error.h"

namespace rung {

void RequestMix::add(CommandLine& line) {
  line.option("--requests", requests, "Requests of the mix");
  line.range(1, 1e6);
  for (const auto& [name, target, what] :
       {std::tuple<const char*, int64_t*, const char*>{"--least-prompt", &least_prompt, "Shortest prompt"},
        {"--most-prompt", &most_prompt, "Longest prompt"},
        {"--least-output", &least_output, "Shortest answer"},
        {"--most-output", &most_output, "Longest answer"}}) {
    line.option(name, *target, std::string(what) + " of the mix, in tokens");
    line.range(1, 1e6);
  }
  line.option("--mix-seed", seed, "Which mix");
}

std::vector<GenerationRequest> RequestMix::make(int64_t vocabulary) const {
  if (least_prompt > most_prompt || least_output > most_output)
    fail("the shortest prompt or answer of the mix is longer than the longest");
  uint64_t step = 0;
  const auto uniform = [&](int64_t least, int64_t most) {
    return least + static_cast<int64_t>(uniform_draw(seed, step++) * static_cast<double>(most - least + 1));
  };
  std::vector<GenerationRequest> mix(static_cast<size_t>(requests));
  for (GenerationRequest& request : mix) {
    request.prompt_ids.resize(static_cast<size_t>(uniform(least_prompt, most_prompt)));
    for (int32_t& id : request.prompt_ids) id = static_cast<int32_t>(uniform(0, vocabulary - 1));
    request.max_tokens = uniform(least_output, most_output);
    request.ignore_eos = true;
    request.sampling.temperature = 0;
  }
  return mix;
}

}  // namespace rung
