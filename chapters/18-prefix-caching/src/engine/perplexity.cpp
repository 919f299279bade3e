// Scores windows of a text with one forward pass each.
#include "engine/perplexity.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/sampler.h"
#include "rung/error.h"
#include "tensor/device_tensor.h"

namespace rung {

namespace {

// Log-probability of ids[i + 1] for each i in [begin, end), which one pass puts through the model.
template <class Device>
void score_pass(Transformer<Device>& transformer, KvCache& cache, const std::vector<int32_t>& window,
                int64_t begin, int64_t end, std::vector<double>& scores) {
  Batch batch = part_of_sequence(window, begin, end);
  batch.logit_rows.resize(batch.ids.size());
  std::iota(batch.logit_rows.begin(), batch.logit_rows.end(), 0);
  const Tensor logits = download(transformer.device(), transformer.forward(batch, cache));
  for (int64_t i = begin; i < end; ++i) {
    const Tensor row = logits.slice(i - begin, 1);
    scores.push_back(log_probability({row.data<float>(), static_cast<size_t>(row.elements())},
                                     window[static_cast<size_t>(i + 1)]));
  }
}

}  // namespace

template <class Device>
std::vector<double> score_windows(Transformer<Device>& transformer, KvCache& cache,
                                  const std::vector<int32_t>& ids, int64_t window,
                                  const std::function<void(size_t)>& progress) {
  if (window < 2) fail("a window of ", window, " tokens: expected at least 2, one to foretell the other");
  const auto length = static_cast<int64_t>(ids.size());
  std::vector<double> scores;
  for (int64_t first = 0; first + 1 < length; first += window) {
    const std::vector<int32_t> part(ids.begin() + first, ids.begin() + std::min(first + window, length));
    const int64_t scored = static_cast<int64_t>(part.size()) - 1;
    for (int64_t begin = 0; begin < scored; begin += transformer.max_tokens()) {
      score_pass(transformer, cache, part, begin, std::min(begin + transformer.max_tokens(), scored), scores);
    }
    progress(static_cast<size_t>(first) + part.size());
  }
  return scores;
}

template std::vector<double> score_windows(Transformer<Cpu>&, KvCache&, const std::vector<int32_t>&, int64_t,
                                           const std::function<void(size_t)>&);
template std::vector<double> score_windows(Transformer<Cuda>&, KvCache&, const std::vector<int32_t>&, int64_t,
                                           const std::function<void(size_t)>&);

Perplexity perplexity(Span<const double> log_probabilities) {
  const auto n = static_cast<double>(log_probabilities.size());
  if (log_probabilities.empty()) fail("the text has no token to score, expected at least two tokens");
  const double mean = std::accumulate(log_probabilities.begin(), log_probabilities.end(), 0.0) / n;
  double squares = 0;
  for (const double value : log_probabilities) squares += (value - mean) * (value - mean);
  const double value = std::exp(-mean);
  return {mean, value, value * std::sqrt(squares / (n - 1) / n)};
}

}  // namespace rung
