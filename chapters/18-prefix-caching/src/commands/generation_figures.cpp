// Formats what a generation produced and took.
#include "commands/generation_figures.h"

#include <nlohmann/json.hpp>

#include "rung/memory.h"
#include "rung/table.h"

namespace rung {

namespace {

std::string rate(size_t tokens, double seconds) {
  return std::to_string(tokens) + (tokens == 1 ? " token in " : " tokens in ") + fixed(seconds, 2) + " s (" +
         fixed(seconds > 0 ? static_cast<double>(tokens) / seconds : 0, 1) + " tok/s)";
}

}  // namespace

std::string generation_figures(const GenerationRequest& request, const Generation& result) {
  const size_t generated = result.output_ids.size();
  std::string line;
  if (generated > 0) {
    // The first token comes out of the pass over the prompt.
    line = "prompt " + rate(request.prompt_ids.size(), result.prompt_seconds) +
           (result.cached_tokens > 0 ? ", " + std::to_string(result.cached_tokens) + " of them cached" : "") +
           ", then " + rate(generated - 1, result.decode_seconds) + "; ";
  }
  line += std::string("ended by ") + name(result.finish_reason);
  if (request.sampling.temperature > 0) line += ", seed " + std::to_string(request.sampling.seed);
  return line;
}

std::string engine_figures_text(size_t requests, int64_t output_tokens, double seconds,
                                const EngineFigures& figures) {
  return std::to_string(requests) + (requests == 1 ? " request, " : " requests, ") +
         rate(static_cast<size_t>(output_tokens), seconds) + "; " + std::to_string(figures.computed) +
         " tokens computed in " + std::to_string(figures.steps) + " steps" +
         (figures.cached > 0 ? ", " + std::to_string(figures.cached) + " found in the cache" : "") +
         (figures.preemptions > 0 ? ", " + std::to_string(figures.preemptions) + " preempted" : "");
}

std::string generation_json(const GenerationRequest& request, const Generation& result, int64_t answer) {
  nlohmann::ordered_json json = {
      {"prompt_ids", request.prompt_ids},
      {"output_ids", result.output_ids},
      {"text", result.text},
      {"finish_reason", name(result.finish_reason)},
      {"seed", request.sampling.seed + static_cast<uint64_t>(answer)},
      {"cached_tokens", result.cached_tokens},
  };
  if (request.answers > 1) json["answer"] = answer;
  if (request.log_probabilities) json["log_probabilities"] = result.log_probabilities;
  json["timings"] = {{"prompt_seconds", result.prompt_seconds}, {"decode_seconds", result.decode_seconds}};
  json["peak_bytes"] = peak_memory();
  return json.dump();
}

}  // namespace rung
