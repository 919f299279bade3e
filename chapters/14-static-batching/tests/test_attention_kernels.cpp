// The three kernels of attention one by one, each against its line of the formula in double arithmetic.
#include "ops/attention_kernels.h"

#include <algorithm>
#include <cmath>

#include "testing/catch.h"
#include "tests/devices.h"
#include "tests/stored_weights.h"

using namespace rung;
using namespace rung::testing;

namespace {

struct Sizes {
  int64_t tokens, context, heads, kv_heads, head_dim;
};
const Sizes kCases[] = {
    {1, 1, 1, 1, 2}, {2, 3, 3, 1, 6}, {3, 5, 6, 3, 32}, {4, 17, 4, 2, 256}, {5, 129, 2, 2, 18}};

std::string text(const Sizes& s) {
  return std::to_string(s.tokens) + " of " + std::to_string(s.context) + " tokens, " +
         std::to_string(s.heads) + " heads on " + std::to_string(s.kv_heads) + ", head_dim " +
         std::to_string(s.head_dim);
}

// Calls at(token, head, key) for every score, in the order in which they stand in memory.
template <class At>
std::vector<float> for_every_score(const Sizes& s, At at) {
  std::vector<float> values;
  for (int64_t t = 0; t < s.tokens; ++t) {
    for (int64_t h = 0; h < s.heads; ++h) {
      for (int64_t j = 0; j < s.context; ++j) values.push_back(static_cast<float>(at(t, h, j)));
    }
  }
  return values;
}

bool visible(const Sizes& s, int64_t token, int64_t key) {
  return key <= s.context - s.tokens + token;
}

}  // namespace

TEST_CASE("attention by its kernels: scores are scaled products, and minus infinity behind the query") {
  Cuda& device = the_device<Cuda>();
  for (const Sizes& s : kCases) {
    INFO(text(s));
    const Tensor q = random_tensor({s.tokens, s.heads, s.head_dim}, 1),
                 k = random_tensor({s.context, s.kv_heads, s.head_dim}, 2);
    double largest = 0;  // sum of a score's products without their signs
    const std::vector<float> expected = for_every_score(s, [&](int64_t t, int64_t h, int64_t j) {
      double sum = 0, magnitude = 0;
      for (int64_t d = 0; d < s.head_dim; ++d) {
        const double product =
            static_cast<double>(q.data<float>()[(t * s.heads + h) * s.head_dim + d]) *
            k.data<float>()[(j * s.kv_heads + h / (s.heads / s.kv_heads)) * s.head_dim + d];
        sum += product, magnitude += std::abs(product);
      }
      largest = std::max(largest, magnitude);
      return visible(s, t, j) ? sum / std::sqrt(static_cast<double>(s.head_dim)) : -INFINITY;
    });
    GuardedOutput<Cuda> scores(device, {s.tokens, s.heads, s.context});
    attention_scores(device, scores.tensor, upload(device, q), upload(device, k));
    // head_dim + 2 roundings of its products
    const double allowed = largest / std::sqrt(static_cast<double>(s.head_dim)) *
                           std::ldexp(static_cast<double>(s.head_dim) + 2, -24);
    CHECK(compare(floats(scores.values()), expected, static_cast<float>(allowed)) == "");
  }
}

TEST_CASE("attention by its kernels: a row of scores becomes its softmax") {
  Cuda& device = the_device<Cuda>();
  for (const Sizes& s : kCases) {
    INFO(text(s));
    const std::vector<float> random = random_floats(static_cast<size_t>(s.tokens * s.heads * s.context), 3);
    size_t next = 0;
    Tensor scores = Tensor::host(DType::f32, {s.tokens, s.heads, s.context});
    const std::vector<float> start = for_every_score(
        s, [&](int64_t t, int64_t, int64_t j) { return visible(s, t, j) ? random[next++] : -INFINITY; });
    std::copy(start.begin(), start.end(), scores.data<float>());
    std::vector<float> expected;
    double range = 0;  // between the scores of a row
    for (size_t row = 0; row < start.size(); row += static_cast<size_t>(s.context)) {
      const auto begin = start.begin() + static_cast<std::ptrdiff_t>(row);
      const std::vector<double> seen(begin, std::find(begin, begin + s.context, -INFINITY));
      const auto [least, most] = std::minmax_element(seen.begin(), seen.end());
      range = std::max(range, *most - *least);
      double sum = 0;
      for (const double score : seen) sum += std::exp(score);
      for (const double score : seen) expected.push_back(static_cast<float>(std::exp(score) / sum));
      expected.resize(row + static_cast<size_t>(s.context));  // the others' weights are 0
    }
    Tensor on_device = upload(device, scores);
    attention_softmax(device, on_device);
    // The roundings of a difference of scores, of exp, of the sum and of the division.
    const double unit = std::ldexp(1, -24), relative = (static_cast<double>(s.context) + range + 8) * unit;
    constexpr float kSmallestNormal = 0x1p-126f;
    CHECK(compare(floats(download(device, on_device)), expected, kSmallestNormal,
                  static_cast<float>(relative)) == "");
  }
}

TEST_CASE("attention by its kernels: values are added up by weight, as far as the query sees") {
  Cuda& device = the_device<Cuda>();
  for (const Sizes& s : kCases) {
    INFO(text(s));
    const std::vector<float> random = random_floats(static_cast<size_t>(s.tokens * s.heads * s.context), 4);
    size_t next = 0;
    Tensor weights = Tensor::host(DType::f32, {s.tokens, s.heads, s.context});
    const std::vector<float> start = for_every_score(
        s, [&](int64_t t, int64_t, int64_t j) { return visible(s, t, j) ? std::abs(random[next++]) : 0.0f; });
    std::copy(start.begin(), start.end(), weights.data<float>());
    const Tensor v = random_tensor({s.context, s.kv_heads, s.head_dim}, 5);
    std::vector<float> expected;
    double largest = 0;
    for (int64_t t = 0; t < s.tokens; ++t) {
      for (int64_t h = 0; h < s.heads; ++h) {
        for (int64_t d = 0; d < s.head_dim; ++d) {
          double sum = 0, magnitude = 0;
          for (int64_t j = 0; j < s.context; ++j) {
            const double product =
                static_cast<double>(start[static_cast<size_t>((t * s.heads + h) * s.context + j)]) *
                v.data<float>()[(j * s.kv_heads + h / (s.heads / s.kv_heads)) * s.head_dim + d];
            sum += product, magnitude += std::abs(product);
          }
          largest = std::max(largest, magnitude);
          expected.push_back(static_cast<float>(sum));
        }
      }
    }
    GuardedOutput<Cuda> y(device, {s.tokens, s.heads, s.head_dim});
    attention_weighted_sum(device, y.tensor, upload(device, weights), upload(device, v));
    const double allowed = largest * std::ldexp(static_cast<double>(s.context) + 2, -24);
    CHECK(compare(floats(y.values()), expected, static_cast<float>(allowed)) == "");
  }
}
