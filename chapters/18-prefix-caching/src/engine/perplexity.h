// How well a model foretells a text.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "model/transformer.h"
#include "rung/span.h"

namespace rung {

// Natural logarithms of the probabilities that the model gives to the tokens of a text, cut into windows of
// up to `window` tokens that do not overlap: each token but the first of a window, after the tokens before it
// in the window. progress(tokens done) is called after each window. A window goes through the model in passes
// of transformer.max_tokens() tokens; it needs space for as many rows of logits. The cache's first row needs
// space for window - 1 tokens and is overwritten.
template <class Device>
std::vector<double> score_windows(Transformer<Device>& transformer, KvCache& cache,
                                  const std::vector<int32_t>& ids, int64_t window,
                                  const std::function<void(size_t)>& progress);

struct Perplexity {
  double mean_log_probability;
  double value;  // e^-mean_log_probability: among how many equally probable tokens the model wavers; infinite
                 // below a mean of -709
  double standard_error;  // of value, by the spread of the log-probabilities (first order: value * sd /
                          // sqrt(n)); NaN if n is 1
};

// Throws Error if there is no value.
Perplexity perplexity(Span<const double> log_probabilities);

}  // namespace rung
