// Attention in double arithmetic, and how far float32 may be from it.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "tensor/tensor.h"

namespace rung::testing {

// Empty if y [tokens, heads, head_dim] is softmax(q k^T / sqrt(head_dim)) v within what float32 allows, where
// query t sees the first first_keys + t rows of k and v [rows, kv_heads, head_dim], all f32 on the host. A
// score is off by at most (head_dim + 2) roundings of its products' magnitudes, so a weight by the same
// factor twice (its own score and the sum's); exp and the two sums over the keys add `keys` roundings more,
// and product_error what products in a 16-bit type lose.
inline std::string check_attention_values(const Tensor& y, const Tensor& q, const Tensor& k, const Tensor& v,
                                          int64_t first_keys, double product_error = 0) {
  const int64_t tokens = q.shape()[0], heads = q.shape()[1], head_dim = q.shape()[2], kv_heads = k.shape()[1];
  const double scale = 1 / std::sqrt(static_cast<double>(head_dim));
  const double unit = std::max(std::ldexp(1, -24), product_error);
  for (int64_t t = 0; t < tokens; ++t) {
    for (int64_t h = 0; h < heads; ++h) {
      const int64_t keys = first_keys + t, kv_head = h / (heads / kv_heads);
      const float* query = q.data<float>() + (t * heads + h) * head_dim;
      std::vector<double> weights(static_cast<size_t>(keys));
      double largest = -INFINITY, score_error = 0, total = 0;
      for (int64_t j = 0; j < keys; ++j) {
        const float* key = k.data<float>() + (j * kv_heads + kv_head) * head_dim;
        double score = 0, magnitude = 0;
        for (int64_t d = 0; d < head_dim; ++d) {
          score += static_cast<double>(query[d]) * key[d];
          magnitude += std::abs(static_cast<double>(query[d]) * key[d]);
        }
        weights[static_cast<size_t>(j)] = score * scale;
        largest = std::max(largest, score * scale);
        const double additions = std::ldexp(static_cast<double>(head_dim) + 2, -24) + 2 * product_error;
        score_error = std::max(score_error, magnitude * scale * additions);
      }
      for (double& weight : weights) total += weight = std::exp(weight - largest);
      for (int64_t d = 0; d < head_dim; ++d) {
        double sum = 0, magnitude = 0;
        for (int64_t j = 0; j < keys; ++j) {
          const double value = v.data<float>()[(j * kv_heads + kv_head) * head_dim + d];
          sum += weights[static_cast<size_t>(j)] / total * value;
          magnitude += weights[static_cast<size_t>(j)] / total * std::abs(value);
        }
        const double got = y.data<float>()[(t * heads + h) * head_dim + d];
        const double allowed = magnitude * (std::expm1(2 * score_error) +
                                            std::ldexp(2 * static_cast<double>(keys) + 8, -24) + 2 * unit);
        if (!(std::abs(got - sum) <= allowed)) {
          return "token " + std::to_string(t) + ", head " + std::to_string(h) + ", element " +
                 std::to_string(d) + ": got " + std::to_string(got) + ", expected " + std::to_string(sum) +
                 " within " + std::to_string(allowed);
        }
      }
    }
  }
  return "";
}

}  // namespace rung::testing
