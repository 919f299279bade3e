// Several requests in lock-step: prompts padded to one length, then one token each a step until the last of
// them has ended.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/request.h"
#include "model/transformer.h"
#include "rung/span.h"
#include "tokenizer/tokenizer.h"

namespace rung {

// What a batch cost and what it was good for, in tokens that went through the model.
struct BatchFigures {
  int64_t passes = 0;
  int64_t computed = 0;  // all of them
  int64_t useful = 0;    // of these, tokens of prompts and of answers that had not ended
};

// Answers all requests, at most cache.rows() and as many as the transformer takes sequences; request i has
// row i of the cache. A request that cannot be answered ends with FinishReason::error and its message, and
// changes nothing for the others. Adds what it cost to figures.
template <class Device>
std::vector<Generation> generate_batch(Transformer<Device>& transformer, KvCache& cache,
                                       const Tokenizer& tokenizer, Span<const GenerationRequest> requests,
                                       BatchFigures& figures);

}  // namespace rung
