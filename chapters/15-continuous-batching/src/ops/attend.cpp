// Attention on the CPU: a few query rows at a time against pieces of the context that stay in the cache.
#include "ops/attend.h"

#include <algorithm>
#include <vector>

#include "ops/attention_rows.h"
#include "ops/dot.h"
#include "rung/error.h"
#include "tensor/decode.h"

namespace rung {

namespace {

constexpr int64_t kKeysOfPiece = 64;

// The rows of keys or values that belong to one head of one sequence.
struct HeadRows {
  const Tensor& tensor;  // [rows, kv_heads, head_dim]
  int64_t first_row, kv_head;

  struct Piece {
    const float* rows;
    size_t stride;
  };
  // Rows [begin, begin + count) as float32: where they are, or decoded into buffer.
  Piece piece(int64_t begin, int64_t count, std::vector<float>& buffer) const {
    const int64_t head_dim = tensor.shape()[2], stride = tensor.shape()[1] * head_dim;
    const int64_t first = (first_row + begin) * stride + kv_head * head_dim;
    if (tensor.dtype() == DType::f32) return {tensor.data<float>() + first, static_cast<size_t>(stride)};
    buffer.resize(static_cast<size_t>(kKeysOfPiece * head_dim));
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
  static thread_local std::vector<float> scratch, decoded;
  const int64_t most_keys = rows.keys_of(rows.count - 1);
  const size_t row_scores = static_cast<size_t>(most_keys), head_dim = static_cast<size_t>(k.shape()[2]);
  if (scratch.size() < rows.count * row_scores) scratch.resize(rows.count * row_scores);
  float* scores = scratch.data();

  for (int64_t key = 0; key < most_keys; key += kKeysOfPiece) {
    const int64_t keys = std::min(kKeysOfPiece, most_keys - key);
    const HeadRows::Piece piece = key_rows.piece(key, keys, decoded);
    dot_tiles(piece.rows, static_cast<size_t>(keys), piece.stride, rows.q, rows.count, rows.stride, head_dim,
              scores + key, row_scores);
  }
  float sums[64];
  for (size_t r = 0; r < rows.count; ++r) {
    // A score of a key behind the query was computed along with the others; it is not looked at.
    sums[r] = softmax_numerators(scores + r * row_scores, static_cast<size_t>(rows.keys_of(r)), rows.scale);
    std::fill_n(rows.y + r * rows.stride, head_dim, 0.0f);
  }
  for (int64_t key = 0; key < most_keys; key += kKeysOfPiece) {
    // Up to `shared` every row sees the piece's keys.
    const int64_t end = std::min(key + kKeysOfPiece, most_keys), shared = std::min(end, rows.first_keys);
    const HeadRows::Piece piece = value_rows.piece(key, end - key, decoded);
    if (shared > key) {
      add_weighted_rows(rows.y, rows.stride, rows.count, scores + key, row_scores, piece.rows, piece.stride,
                        static_cast<size_t>(shared - key), head_dim);
    }
    const int64_t rest = std::max(key, shared);
    for (size_t r = 0; r < rows.count; ++r) {
      const int64_t keys = std::min(end, rows.keys_of(r)) - rest;
      if (keys <= 0) continue;
      add_weighted_rows(rows.y + r * rows.stride, rows.stride, 1, scores + r * row_scores + rest, row_scores,
                        piece.rows + static_cast<size_t>(rest - key) * piece.stride, piece.stride,
                        static_cast<size_t>(keys), head_dim);
    }
  }
  for (size_t r = 0; r < rows.count; ++r) {
    for (size_t d = 0; d < head_dim; ++d) rows.y[r * rows.stride + d] /= sums[r];
  }
}

}  // namespace rung
