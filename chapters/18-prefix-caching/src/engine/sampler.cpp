// Penalty, temperature, filters, and the draw. No filter sorts the vocabulary: each one finds a threshold and
// drops what lies below it.
#include "engine/sampler.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "engine/exponential.h"
#include "rung/error.h"

namespace rung {

namespace {

void check_logit(float logit, size_t id) {
  if (std::isnan(logit) || logit == INFINITY) {
    fail("logit of token ", id, " is ", logit, ": the model's weights or its arithmetic are broken");
  }
}

[[noreturn]] void fail_without_logits() {
  fail("no token has a finite logit: the model's weights or its arithmetic are broken");
}

// A token and its score: the logit at first, then its weight, e^(logit / temperature) up to a common factor.
struct Scored {
  int32_t id;
  double score;
};

// All tokens that are possible at all (a logit of minus infinity excludes one), the penalty applied.
std::vector<Scored> penalised(Span<const float> logits, Span<const int32_t> seen, float penalty) {
  std::vector<bool> repeated(penalty == 1 ? 0 : logits.size(), false);
  if (!repeated.empty()) {
    for (const int32_t id : seen) {
      if (id >= 0 && static_cast<size_t>(id) < repeated.size()) repeated[static_cast<size_t>(id)] = true;
    }
  }
  std::vector<Scored> scored;
  scored.reserve(logits.size());
  for (size_t i = 0; i < logits.size(); ++i) {
    check_logit(logits[i], i);
    if (logits[i] == -INFINITY) continue;
    double logit = logits[i];
    if (!repeated.empty() && repeated[i]) logit = logit > 0 ? logit / penalty : logit * penalty;
    scored.push_back({static_cast<int32_t>(i), logit});
  }
  if (scored.empty()) fail_without_logits();
  return scored;
}

template <class Unwanted>
void drop(std::vector<Scored>& tokens, Unwanted unwanted) {
  tokens.erase(std::remove_if(tokens.begin(), tokens.end(), unwanted), tokens.end());
}

double sum_of_scores(const std::vector<Scored>& tokens) {
  double sum = 0;
  for (const Scored& token : tokens) sum += token.score;
  return sum;
}

// Leaves the k tokens of the largest score, and those as large as the k-th.
void keep_top_k(std::vector<Scored>& tokens, int64_t k) {
  if (k == 0 || static_cast<size_t>(k) >= tokens.size()) return;
  std::vector<double> scores(tokens.size());
  std::transform(tokens.begin(), tokens.end(), scores.begin(),
                 [](const Scored& token) { return token.score; });
  const auto kth = scores.begin() + static_cast<std::ptrdiff_t>(k - 1);
  std::nth_element(scores.begin(), kth, scores.end(), std::greater<double>());
  drop(tokens, [least = *kth](const Scored& token) { return token.score < least; });
}

// Leaves the tokens of the largest weight whose sum reaches the fraction p of the sum of all.
void keep_nucleus(std::vector<Scored>& tokens, double p) {
  const double total = sum_of_scores(tokens);
  // All tokens lighter than this weigh less than (1 - p) of the total together: the nucleus is full before it
  // comes to one of them. In text that leaves a few hundred of 150,000 to be sorted.
  const double lightest = (1 - p) * total / static_cast<double>(tokens.size());
  std::vector<Scored> heavy;
  for (const Scored& token : tokens) {
    if (token.score >= lightest) heavy.push_back(token);
  }
  const auto before = [](const Scored& a, const Scored& b) {
    return a.score != b.score ? a.score > b.score : a.id < b.id;
  };
  std::sort(heavy.begin(), heavy.end(), before);
  double sum = 0;
  size_t kept = 0;
  while (kept < heavy.size() && sum < p * total) sum += heavy[kept++].score;
  drop(tokens, [&, last = heavy[kept - 1]](const Scored& token) { return before(last, token); });
}

}  // namespace

void check_sampling(const SamplingParameters& p) {
  const auto check = [](bool good, const char* field, double value, const char* expected) {
    if (!good) fail(field, " is ", value, ", expected ", expected);
  };
  check(p.temperature >= 0 && p.temperature <= 1000, "temperature", p.temperature, "0 to 1000");
  check(p.top_k >= 0, "top_k", static_cast<double>(p.top_k), "0 (all tokens) or more");
  check(p.top_p > 0 && p.top_p <= 1, "top_p", p.top_p, "over 0 and at most 1");
  check(p.min_p >= 0 && p.min_p <= 1, "min_p", p.min_p, "0 to 1");
  check(p.repetition_penalty > 0 && p.repetition_penalty <= 1000, "repetition_penalty", p.repetition_penalty,
        "over 0 and at most 1000");
}

std::vector<Candidate> sampling_distribution(Span<const float> logits, Span<const int32_t> seen,
                                             const SamplingParameters& parameters) {
  check_sampling(parameters);
  std::vector<Scored> tokens = penalised(logits, seen, parameters.repetition_penalty);
  // Of equals the first, which has the lowest id.
  const Scored best = *std::max_element(tokens.begin(), tokens.end(),
                                        [](const Scored& a, const Scored& b) { return a.score < b.score; });
  if (parameters.temperature == 0) return {{best.id, 1.0}};

  // BEGIN SOLUTION 12.1
  keep_top_k(tokens, parameters.top_k);
  for (Scored& token : tokens) {
    token.score = portable_exp((token.score - best.score) / static_cast<double>(parameters.temperature));
  }
  if (parameters.top_p < 1) keep_nucleus(tokens, parameters.top_p);
  // The most probable token weighs e^0 = 1.
  const double least = parameters.min_p;
  drop(tokens, [least](const Scored& token) { return token.score < least || token.score == 0; });

  const double total = sum_of_scores(tokens);
  std::vector<Candidate> candidates;
  candidates.reserve(tokens.size());
  for (const Scored& token : tokens) candidates.push_back({token.id, token.score / total});
  return candidates;
  // STUB: (void)keep_top_k;
  // STUB: (void)keep_nucleus;
  // STUB: not_done("12.1");
  // END SOLUTION
}

double uniform_draw(uint64_t seed, uint64_t step) {
  uint64_t z = seed + (step + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  return static_cast<double>(z >> 11) * 0x1p-53;
}

int32_t draw(const std::vector<Candidate>& distribution, double uniform) {
  double sum = 0;
  for (const Candidate& candidate : distribution) {
    sum += candidate.probability;
    if (uniform < sum) return candidate.id;
  }
  return distribution.back().id;  // the sum fell short of 1 by rounding
}

int32_t sample(Span<const float> logits, Span<const int32_t> seen, const SamplingParameters& parameters,
               uint64_t step) {
  return draw(sampling_distribution(logits, seen, parameters), uniform_draw(parameters.seed, step));
}

double log_probability(Span<const float> logits, int32_t id) {
  if (id < 0 || static_cast<size_t>(id) >= logits.size()) {
    fail("there is no token ", id, " among ", logits.size());
  }
  double largest = -INFINITY;
  for (size_t i = 0; i < logits.size(); ++i) {
    check_logit(logits[i], i);
    largest = std::max<double>(largest, logits[i]);
  }
  if (largest == -INFINITY) fail_without_logits();
  double sum = 0;
  for (const float logit : logits) sum += portable_exp(logit - largest);
  return logits[static_cast<size_t>(id)] - largest - std::log(sum);
}

}  // namespace rung
