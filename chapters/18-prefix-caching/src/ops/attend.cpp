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
  const KeyRows& row_of;
  int64_t kv_head;

  struct Piece {
    const float* rows;
    size_t stride, count;
  };
  // Keys from `begin` on as float32, at most `most`: where they are, as far as they stand in neighbouring
  // rows, or decoded into buffer.
  Piece piece(int64_t begin, int64_t most, std::vector<float>& buffer) const {
    const int64_t head_dim = tensor.shape()[2], stride = tensor.shape()[1] * head_dim;
    const auto first = [&](int64_t key) { return row_of(key) * stride + kv_head * head_dim; };
    if (tensor.dtype() == DType::f32) {
      // BEGIN SOLUTION 17.1
      int64_t count = 1;
      while (count < most && row_of(begin + count) == row_of(begin) + count) ++count;
      return {tensor.data<float>() + first(begin), static_cast<size_t>(stride), static_cast<size_t>(count)};
      // STUB: not_done("17.1");
      // END SOLUTION
    }
    buffer.resize(static_cast<size_t>(kTileKeys * head_dim));
    for (int64_t i = 0; i < most; ++i) {
      const auto* stored = static_cast<const unsigned char*>(tensor.raw()) +
                           row_bytes(tensor.dtype(), static_cast<size_t>(first(begin + i)));
      decode_row(tensor.dtype(), stored, buffer.data() + i * head_dim, head_dim);
    }
    return {buffer.data(), static_cast<size_t>(head_dim), static_cast<size_t>(most)};
  }
};

}  // namespace

void attend(const QueryRows& rows, const Tensor& k, const Tensor& v, const KeyRows& key_rows,
            int64_t kv_head) {
  const HeadRows keys_of_head{k, key_rows, kv_head}, values_of_head{v, key_rows, kv_head};
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
    for (int64_t i = 0; i < keys;) {
      const HeadRows::Piece piece = keys_of_head.piece(begin + i, keys - i, decoded);
      dot_tiles(piece.rows, piece.count, piece.stride, rows.q, rows.count, rows.stride, head_dim, scores + i,
                kTileKeys);
      i += static_cast<int64_t>(piece.count);
    }
    for (size_t r = 0; r < rows.count; ++r) {
      // A score of a key behind the query was computed along with the others; it is not looked at.
      tiles[r] = softmax_numerators(scores + r * kTileKeys, seen_by(r), rows.scale);
    }

    std::fill_n(sums.data(), rows.count * head_dim, 0.0f);
    for (int64_t i = 0; i < keys;) {
      const HeadRows::Piece piece = values_of_head.piece(begin + i, keys - i, decoded);
      const auto behind = static_cast<size_t>(i) + piece.count;
      if (seen_by(0) >= behind) {
        add_weighted_rows(sums.data(), head_dim, rows.count, scores + i, kTileKeys, piece.rows, piece.stride,
                          piece.count, head_dim);
      } else {
        for (size_t r = 0; r < rows.count; ++r) {
          const size_t seen = std::min(seen_by(r), behind);
          if (seen <= static_cast<size_t>(i)) continue;
          add_weighted_rows(sums.data() + r * head_dim, head_dim, 1, scores + r * kTileKeys + i, kTileKeys,
                            piece.rows, piece.stride, seen - static_cast<size_t>(i), head_dim);
        }
      }
      i += static_cast<int64_t>(piece.count);
    }
    for (size_t r = 0; r < rows.count; ++r) {
      const MergeFactors factors = merge(totals[r], tiles[r]);
      float* y = rows.y + r * rows.stride;
      const float* sum = sums.data() + r * head_dim;
      for (size_t d = 0; d < head_dim; ++d) y[d] = y[d] * factors.kept + sum[d] * factors.added;
    }
  }
  for (size_t r = 0; r < rows.count; ++r) {
    for (size_t d = 0; d < head_dim; ++d) rows.y[r * rows.stride + d] /= totals[r].sum;
  }
}

}  // namespace rung
