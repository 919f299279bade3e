// What is asked of the model, and what comes of it.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/sampler.h"

namespace rung {

enum class FinishReason : uint8_t {
  stop,     // the model ended its answer, or a stop string came
  length,   // max_tokens were generated, or the context is full
  aborted,  // the caller cancelled it
  error,    // it could not be answered, or not to the end
};
const char* name(FinishReason reason);

struct GenerationRequest {
  std::vector<int32_t> prompt_ids;  // at least one
  int64_t answers = 1;              // to the same prompt; answer i draws with seed + i
  int64_t max_tokens = 256;         // of each
  bool ignore_eos = false;          // end tokens do not end the answer
  SamplingParameters sampling;
  std::vector<std::string> stop;                 // stop strings
  bool log_probabilities = false;                // give that of each chosen token
  const std::atomic<bool>* cancelled = nullptr;  // looked at before every token; null: never cancelled
};

// Throws Error if the prompt is empty or longer than the context, with both numbers.
void check_prompt(const std::vector<int32_t>& prompt_ids, int64_t context);

struct Generation {
  std::vector<int32_t> output_ids;        // what was chosen, the end token included
  std::vector<double> log_probabilities;  // one for each of output_ids if asked for
  std::string text;                       // their text up to a stop string, special tokens left out
  FinishReason finish_reason = FinishReason::length;
  std::string error;          // what went wrong, in one line; empty unless finish_reason is error
  int64_t cached_tokens = 0;  // of the prompt, whose keys and values were in the cache already
  double prompt_seconds = 0;  // until the first token was chosen
  double decode_seconds = 0;  // all others
};

}  // namespace rung
