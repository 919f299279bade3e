// Attention on the CPU: a few query rows at a time go through their context once, tile by tile.
#include "ops/attend.h"

#include <algorithm>
#include <vector>

#include "ops/attention_rows.h"
#include "ops/dot.h"
#include "rung/error.h"
#include "tensor/decode.h"

namespace rung {

namespace {

constexpr size_t kMostRows = 64;

// The rows of keys or values that belong to one head of one sequence.
struct HeadRows {
  const Tensor& tensor;  // [rows, kv_heads, head_dim]
  int64_t first_row, kv_head;

  struct Tile {
    const float* rows;
    size_t stride;
  };
  // Keys [begin, begin + count) as float32: where they are, or decoded into buffer.
  Tile tile(int64_t begin, int64_t count, std::vector<float>& buffer) const {
    const int64_t head_dim = tensor.shape()[2], stride = tensor.shape()[1] * head_dim;
    const int64_t first = (first_row + begin) * stride + kv_head * head_dim;
    if (tensor.dtype() == DType::f32) return {tensor.data<float>() + first, static_cast<size_t>(stride)};
    buffer.resize(static_cast<size_t>(kTileKeys * head_dim));
    for (int64_t row = 0; row < count; ++row) {
      const auto* stored = static_cast<const unsigned char*>(tensor.raw()) +
                           row_bytes(tensor.dtype(), static_cast<size_t>(first + row * stride));
      decode_row(tensor.dtype(), stored, buffer.data() + row * head_dim, head_dim);
    }
    return {buffer.data(), static_cast<size_t>(head_dim)};
  }
};

}  // namespace

void attend(const QueryRows& rows, const Tensor& k, const Tensor& v, int64_t first_row, int64_t kv_head) {
  const HeadRows key_rows{k, first_row, kv_head}, value_rows{v, first_row, kv_head};
  static thread_local std::vector<float> decoded, sums;
  const auto head_dim = static_cast<size_t>(k.shape()[2]);
  sums.resize(kMostRows * head_dim);
  float scores[kMostRows * kTileKeys];
  SoftmaxState totals[kMostRows], tiles[kMostRows];
  for (size_t r = 0; r < rows.count; ++r) std::fill_n(rows.y + r * rows.stride, head_dim, 0.0f);

  const int64_t most_keys = rows.keys_of(rows.count - 1);
  for (int64_t begin = 0; begin < most_keys; begin += kTileKeys) {
    const int64_t keys = std::min<int64_t>(kTileKeys, most_keys - begin);
    const auto seen_by = [&](size_t row) {  // keys of the tile
      return static_cast<size_t>(std::clamp<int64_t>(rows.keys_of(row) - begin, 0, keys));
    };
    // BEGIN SOLUTION 16.2
    const HeadRows::Tile key_tile = key_rows.tile(begin, keys, decoded);
    dot_tiles(key_tile.rows, static_cast<size_t>(keys), key_tile.stride, rows.q, rows.count, rows.stride,
              head_dim, scores, kTileKeys);
    for (size_t r = 0; r < rows.count; ++r) {
      // A score of a key behind the query was computed along with the others; it is not looked at.
      tiles[r] = softmax_numerators(scores + r * kTileKeys, seen_by(r), rows.scale);
    }

    std::fill_n(sums.data(), rows.count * head_dim, 0.0f);
    const HeadRows::Tile value_tile = value_rows.tile(begin, keys, decoded);
    if (seen_by(0) == seen_by(rows.count - 1)) {
      add_weighted_rows(sums.data(), head_dim, rows.count, scores, kTileKeys, value_tile.rows,
                        value_tile.stride, seen_by(0), head_dim);
    } else {
      for (size_t r = 0; r < rows.count; ++r) {
        add_weighted_rows(sums.data() + r * head_dim, head_dim, 1, scores + r * kTileKeys, kTileKeys,
                          value_tile.rows, value_tile.stride, seen_by(r), head_dim);
      }
    }
    for (size_t r = 0; r < rows.count; ++r) {
      const MergeFactors factors = merge(totals[r], tiles[r]);
      float* y = rows.y + r * rows.stride;
      const float* sum = sums.data() + r * head_dim;
      for (size_t d = 0; d < head_dim; ++d) y[d] = y[d] * factors.kept + sum[d] * factors.added;
    }
    // STUB: (void)key_rows, (void)value_rows, (void)scores, (void)tiles, (void)seen_by;
    // STUB: not_done("16.2");
    // END SOLUTION
  }
  for (size_t r = 0; r < rows.count; ++r) {
    for (size_t d = 0; d < head_dim; ++d) rows.y[r * rows.stride + d] /= totals[r].sum;
  }
}

}  // namespace rung
