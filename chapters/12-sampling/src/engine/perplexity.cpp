// Scores windows of a text with one forward pass each.
#include "engine/perplexity.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/sampler.h"
#include "rung/error.h"
#include "tensor/device_tensor.h"

namespace rung {

template <class Device>
std::vector<double> score_windows(Transformer<Device>& transformer, const std::vector<int32_t>& ids,
                                  int64_t window, const std::function<void(size_t)>& progress) {
  if (window < 2) fail("a window of ", window, " tokens: expected at least 2, one to foretell the other");
  const auto length = static_cast<int64_t>(ids.size());
  std::vector<double> scores;
  for (int64_t begin = 0; begin + 1 < length; begin += window) {
    const int64_t end = std::min(begin + window, length), scored = end - begin - 1;
    if (scored == 0) break;
    Batch batch = whole_sequence({ids.begin() + begin, ids.begin() + end - 1});
    batch.logit_rows.resize(static_cast<size_t>(scored));
    std::iota(batch.logit_rows.begin(), batch.logit_rows.end(), 0);
    const Tensor logits = download(transformer.device(), transformer.forward(batch));
    const auto vocabulary = static_cast<size_t>(logits.shape().columns());
    for (int64_t i = 0; i < scored; ++i) {
      const Span<const float> row(logits.template data<float>() + static_cast<size_t>(i) * vocabulary,
                                  vocabulary);
      scores.push_back(log_probability(row, ids[static_cast<size_t>(begin + i + 1)]));
    }
    progress(static_cast<size_t>(end));
  }
  return scores;
}

template std::vector<double> score_windows(Transformer<Cpu>&, const std::vector<int32_t>&, int64_t,
                                           const std::function<void(size_t)>&);
template std::vector<double> score_windows(Transformer<Cuda>&, const std::vector<int32_t>&, int64_t,
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
