// The sampler against transformers' logits processors, torch, mpmath and Python's integers.
#include "engine/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "engine/exponential.h"
#include "rung/error.h"
#include "testing/catch.h"
#include "testing/data.h"
#include "tests/data/sampling_references.h"

namespace rung {
namespace {

namespace reference = sampling_references;

SamplingParameters plain(float temperature = 1) {
  SamplingParameters p;
  p.temperature = temperature;
  p.top_k = 0;
  p.top_p = 1;
  return p;
}

// One probability for each id.
std::vector<double> by_id(const std::vector<Candidate>& distribution, size_t vocabulary) {
  std::vector<double> probabilities(vocabulary, 0);
  for (const Candidate& candidate : distribution)
    probabilities.at(static_cast<size_t>(candidate.id)) = candidate.probability;
  return probabilities;
}

TEST_CASE("sampling: distributions equal those of transformers' logits processors") {
  int cases = 0;
  for (const reference::Distribution& expected : reference::kDistributions) {
    const reference::Row& row = reference::kRows.at(static_cast<size_t>(expected.row));
    SamplingParameters p;
    p.temperature = expected.temperature;
    p.top_k = expected.top_k;
    p.top_p = expected.top_p;
    p.min_p = expected.min_p;
    p.repetition_penalty = expected.repetition_penalty;
    CAPTURE(row.name, p.temperature, p.top_k, p.top_p, p.min_p, p.repetition_penalty);
    const std::vector<Candidate> distribution = sampling_distribution(row.logits, reference::kSeen, p);
    std::vector<double> got = by_id(distribution, row.logits.size());
    std::vector<double> want(expected.probabilities.begin(), expected.probabilities.end());
    if (expected.in_tie) {
      std::sort(got.begin(), got.end());
      std::sort(want.begin(), want.end());
    }
    double largest_error = 0;
    bool same_tokens = true;
    for (size_t i = 0; i < got.size(); ++i) {
      largest_error = std::max(largest_error, std::abs(got[i] - want[i]));
      // Below the smallest float, the table holds 0.
      same_tokens =
          same_tokens && (got[i] > 0) == (want[i] > 0 || (want[i] == 0 && got[i] > 0 && got[i] < 1e-44));
    }
    CHECK(largest_error < 1e-7);
    CHECK(same_tokens);
    ++cases;
  }
  CHECK(cases == 175);
}

TEST_CASE("sampling: candidates come by rising id and their probabilities add up to 1") {
  const std::vector<float> logits = testing::random_floats(1009, 5, 3);
  for (const float top_p : {0.3f, 0.9f, 1.0f}) {
    for (const int64_t top_k : {0, 10, 500}) {
      SamplingParameters p = plain();
      p.top_p = top_p;
      p.top_k = top_k;
      const std::vector<Candidate> distribution = sampling_distribution(logits, {}, p);
      double sum = 0;
      for (size_t i = 0; i < distribution.size(); ++i) {
        sum += distribution[i].probability;
        CHECK(distribution[i].probability > 0);
        if (i > 0) CHECK(distribution[i - 1].id < distribution[i].id);
      }
      CHECK(std::abs(sum - 1) < 1e-12);
    }
  }
}

TEST_CASE("sampling: a nucleus of a large vocabulary is the one that sorting everything gives") {
  const std::vector<float> logits = testing::random_floats(20011, 9, 2);
  std::vector<std::pair<double, int32_t>> sorted;
  double total = 0;
  for (size_t i = 0; i < logits.size(); ++i) {
    sorted.push_back({-std::exp(static_cast<double>(logits[i])), static_cast<int32_t>(i)});
    total -= sorted.back().first;
  }
  std::sort(sorted.begin(), sorted.end());
  for (const float top_p : {0.01f, 0.5f, 0.9f, 0.99f, 0.99999f}) {
    std::vector<int32_t> expected;
    double sum = 0;
    for (size_t i = 0; i < sorted.size() && sum < static_cast<double>(top_p) * total; ++i) {
      sum -= sorted[i].first;
      expected.push_back(sorted[i].second);
    }
    std::sort(expected.begin(), expected.end());
    SamplingParameters p = plain();
    p.top_p = top_p;
    std::vector<int32_t> got;
    for (const Candidate& candidate : sampling_distribution(logits, {}, p)) got.push_back(candidate.id);
    CAPTURE(top_p);
    CHECK(got == expected);
  }
}

TEST_CASE("sampling: temperature 0 takes the largest, the first among equals, after the penalty") {
  SamplingParameters p = plain(0);
  CHECK(sample(std::vector<float>{1, 4, 2, 4}, {}, p, 0) == 1);
  CHECK(sample(std::vector<float>{-INFINITY, -3}, {}, p, 0) == 1);
  p.repetition_penalty = 2;
  CHECK(sample(std::vector<float>{1, 4, 3, 0}, std::vector<int32_t>{1}, p, 0) == 2);      // 4 / 2 < 3
  CHECK(sample(std::vector<float>{-3, -2, -9, -8}, std::vector<int32_t>{1}, p, 0) == 0);  // -2 * 2 < -3
}

TEST_CASE("sampling: the penalty counts a token once and passes over ids that are none") {
  SamplingParameters p = plain();
  p.repetition_penalty = 1.5f;
  const std::vector<float> logits = {1, 2, -1, 0};
  const std::vector<double> once =
      by_id(sampling_distribution(logits, std::vector<int32_t>{1, 2}, p), logits.size());
  const std::vector<double> often =
      by_id(sampling_distribution(logits, std::vector<int32_t>{2, 1, 1, -1, 4, 99, 2}, p), logits.size());
  CHECK(once == often);
  const double e1 = std::exp(2 / 1.5) / std::exp(1.0), e2 = std::exp(-1.5) / std::exp(1.0);
  CHECK(once[1] / once[0] == Approx(e1));
  CHECK(once[2] / once[0] == Approx(e2));
}

TEST_CASE("sampling: the generator is SplitMix64, started at any step") {
  for (const reference::Draw& expected : reference::kDraws) {
    CAPTURE(expected.seed, expected.step);
    CHECK(uniform_draw(expected.seed, expected.step) == expected.draw);
  }
}

TEST_CASE("sampling: seeds give the tokens that exact arithmetic gives") {
  for (const reference::Drawn& expected : reference::kDrawn) {
    const reference::Row& row = reference::kRows.at(static_cast<size_t>(expected.row));
    SamplingParameters p = plain(expected.temperature);
    p.seed = expected.seed;
    std::vector<int32_t> tokens;
    for (size_t step = 0; step < expected.tokens.size(); ++step)
      tokens.push_back(sample(row.logits, {}, p, step));
    CAPTURE(row.name, expected.seed);
    CHECK(tokens == expected.tokens);
  }
}

TEST_CASE("sampling: draw gives each candidate its stretch of [0, 1)") {
  const std::vector<Candidate> distribution = {{3, 0.25}, {5, 0.5}, {8, 0.25}};
  CHECK(draw(distribution, 0) == 3);
  CHECK(draw(distribution, std::nextafter(0.25, 0)) == 3);
  CHECK(draw(distribution, 0.25) == 5);
  CHECK(draw(distribution, std::nextafter(0.75, 0)) == 5);
  CHECK(draw(distribution, 0.75) == 8);
  CHECK(draw(distribution, std::nextafter(1.0, 0)) == 8);
  CHECK(draw({{1, 0.3}, {2, 0.3}}, 0.9) == 2);  // probabilities that fall short of 1
}

TEST_CASE("sampling: tokens come as often as they are probable") {
  // Chi-square of 4 counts, 3 degrees of freedom: over 16.3 once in a thousand for a right sampler; the seed
  // is fixed.
  const std::vector<float> logits = {2, 1, 0, -1};
  const std::vector<double> probabilities = by_id(sampling_distribution(logits, {}, plain()), 4);
  constexpr int kDraws = 20000;
  std::vector<int> counts(4, 0);
  SamplingParameters p = plain();
  p.seed = 12;
  for (uint64_t step = 0; step < kDraws; ++step) ++counts[static_cast<size_t>(sample(logits, {}, p, step))];
  double chi_square = 0;
  for (size_t i = 0; i < 4; ++i) {
    const double expected = kDraws * probabilities[i];
    chi_square += (counts[i] - expected) * (counts[i] - expected) / expected;
  }
  CHECK(chi_square < 16.3);

  std::vector<int> first(4, 0);  // step 0 of many neighbouring seeds
  for (uint64_t seed = 0; seed < kDraws; ++seed) {
    p.seed = seed;
    ++first[static_cast<size_t>(sample(logits, {}, p, 0))];
  }
  chi_square = 0;
  for (size_t i = 0; i < 4; ++i) {
    const double expected = kDraws * probabilities[i];
    chi_square += (first[i] - expected) * (first[i] - expected) / expected;
  }
  CHECK(chi_square < 16.3);
}

TEST_CASE("sampling: portable_exp is right to 1e-15 and its bits are pinned") {
  for (const reference::Exponential& expected : reference::kExponentials) {
    CAPTURE(expected.x);
    CHECK(std::abs(portable_exp(expected.x) - expected.value) <= 1e-15 * expected.value);
  }
  CHECK(portable_exp(0) == 1);
  CHECK(portable_exp(-708.001) == 0);
  CHECK(portable_exp(-std::numeric_limits<double>::infinity()) == 0);
  // From this implementation in Python's floats (tests/data/make_sampling_references.py): no machine may
  // differ.
  for (const reference::Exponential& expected : reference::kExponentialBits) {
    CAPTURE(expected.x);
    CHECK(portable_exp(expected.x) == expected.value);
  }
}

TEST_CASE("sampling: log_probability is torch's log_softmax") {
  for (const reference::Row& row : reference::kRows) {
    for (size_t i = 0; i < row.logits.size(); ++i) {
      CAPTURE(row.name, i);
      const double got = log_probability(row.logits, static_cast<int32_t>(i));
      if (std::isinf(row.log_softmax[i])) {
        CHECK(got == row.log_softmax[i]);
      } else {
        CHECK(std::abs(got - row.log_softmax[i]) <= 1e-7 * (1 + std::abs(row.log_softmax[i])));
      }
    }
  }
}

TEST_CASE("sampling: logits that are no numbers are refused, naming the token") {
  for (const float temperature : {0.0f, 1.0f}) {
    const SamplingParameters p = plain(temperature);
    CHECK_THROWS_WITH(sample(std::vector<float>{1, NAN, 2}, {}, p, 0), Catch::Contains("token 1"));
    CHECK_THROWS_WITH(sample(std::vector<float>{1, 2, INFINITY}, {}, p, 0), Catch::Contains("token 2"));
    CHECK_THROWS_AS(sample(std::vector<float>{-INFINITY, -INFINITY}, {}, p, 0), Error);
    CHECK_THROWS_AS(sample(std::vector<float>{}, {}, p, 0), Error);
  }
  CHECK_THROWS_WITH(log_probability(std::vector<float>{1, NAN}, 0), Catch::Contains("token 1"));
  CHECK_THROWS_AS(log_probability(std::vector<float>{-INFINITY}, 0), Error);
  CHECK_THROWS_AS(log_probability(std::vector<float>{1, 2}, 2), Error);
  CHECK_THROWS_AS(log_probability(std::vector<float>{1, 2}, -1), Error);
}

TEST_CASE("sampling: parameters out of range are refused by name") {
  const auto refused = [](const char* field, auto set, std::initializer_list<float> values) {
    for (const float value : values) {
      SamplingParameters p;
      set(p, value);
      CAPTURE(field, value);
      CHECK_THROWS_WITH(check_sampling(p), Catch::Contains(field));
    }
  };
  const float infinity = INFINITY, nan = NAN;
  refused("temperature", [](auto& p, float v) { p.temperature = v; }, {-0.1f, 1001, infinity, nan});
  refused("top_k", [](auto& p, float v) { p.top_k = static_cast<int64_t>(v); }, {-1});
  refused("top_p", [](auto& p, float v) { p.top_p = v; }, {0, -0.5f, 1.01f, nan});
  refused("min_p", [](auto& p, float v) { p.min_p = v; }, {-0.1f, 1.1f, nan});
  refused("repetition_penalty", [](auto& p, float v) { p.repetition_penalty = v; }, {0, -1, infinity, nan});
  CHECK_NOTHROW(check_sampling(SamplingParameters()));
}

TEST_CASE("sampling: extreme temperatures and logits stay finite") {
  SamplingParameters p = plain(std::numeric_limits<float>::denorm_min());
  CHECK(sampling_distribution(std::vector<float>{1, 2, 1.5f}, {}, p).size() == 1);
  const float most = std::numeric_limits<float>::max();
  p = plain(1000);
  p.repetition_penalty = 1000;
  const std::vector<Candidate> distribution =
      sampling_distribution(std::vector<float>{most, -most, 0}, std::vector<int32_t>{0, 1}, p);
  REQUIRE(distribution.size() == 1);
  CHECK(distribution[0].id == 0);
  CHECK(distribution[0].probability == 1);
}

}  // namespace
}  // namespace rung
