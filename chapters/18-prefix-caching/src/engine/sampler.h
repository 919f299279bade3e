// Chooses the next token from a row of logits.
//
// The choice is specified to the bit: it uses only additions, multiplications, divisions and comparisons of
// IEEE 754 doubles in a fixed order, so that the same logits, parameters and seed give the same token on
// every machine.
#pragma once

#include <cstdint>
#include <vector>

#include "rung/span.h"

namespace rung {

struct SamplingParameters {
  float temperature = 0.7f;  // at least 0; 0: greedy, always the most probable token
  int64_t top_k = 40;        // only the k most probable tokens; 0: all
  float top_p = 0.95f;       // only the most probable tokens whose probabilities add up to p; 1: all
  float min_p = 0;           // only tokens at least this fraction as probable as the most probable; 0: all
  float repetition_penalty =
      1;  // over 0; logits of tokens seen before are divided by it if positive, else multiplied
  uint64_t seed = 0;
};

// Throws Error naming the field whose value is out of range or no number.
void check_sampling(const SamplingParameters& parameters);

struct Candidate {
  int32_t id;
  double probability;
};

// The distribution that a token is drawn from: the tokens that all filters leave, by rising id, their
// probabilities adding up to 1. The filters and their order are those of Hugging Face transformers' logits
// processors: repetition penalty, temperature, top-k (all tokens as probable as the k-th stay), top-p (the
// least probable of a nucleus is the one with which it reaches p; the lower id first among equals), min-p.
// `seen`: prompt and output so far, for the penalty. Throws Error if a logit is NaN or plus infinity, or none
// is finite.
std::vector<Candidate> sampling_distribution(Span<const float> logits, Span<const int32_t> seen,
                                             const SamplingParameters& parameters);

// A number in [0, 1) that depends on the seed and the step alone: draw `step` of the stream that `seed`
// names. (SplitMix64, Steele, Lea and Flood 2014, jumped to the step; its upper 53 bits.)
double uniform_draw(uint64_t seed, uint64_t step);

// The candidate in whose stretch of [0, 1) the number falls, the stretches side by side in the order of the
// distribution.
int32_t draw(const std::vector<Candidate>& distribution, double uniform);

// The token for output position `step`.
int32_t sample(Span<const float> logits, Span<const int32_t> seen, const SamplingParameters& parameters,
               uint64_t step);

// Natural logarithm of the probability that the model itself gives the token: of the softmax of the logits as
// they are. Throws Error as sampling_distribution does, or if there is no such token.
double log_probability(Span<const float> logits, int32_t id);

}  // namespace rung
