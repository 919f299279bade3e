// What a finished generation took, as one line for people and as JSON.
#pragma once

#include <string>

#include "engine/engine.h"
#include "engine/request.h"

namespace rung {

// "prompt 8 tokens in 0.11 s (72.7 tok/s), then 63 tokens in 5.02 s (12.5 tok/s); ended by stop, seed 1"
std::string generation_figures(const GenerationRequest& request, const Generation& result);

// "8 requests, 512 tokens in 3.20 s (160.0 tok/s); 1234 tokens computed in 80 steps"
std::string engine_figures_text(size_t requests, int64_t output_tokens, double seconds,
                                const EngineFigures& figures);

// One JSON object: prompt_ids, output_ids, text, finish_reason, seed, cached_tokens, timings, peak_bytes (the
// most main memory that the program has taken so far), answer (which of them) if the request wants several,
// and log_probabilities if it asks for them.
std::string generation_json(const GenerationRequest& request, const Generation& result, int64_t answer = 0);

}  // namespace rung
