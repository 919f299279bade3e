// Attention on the CPU: a few query rows at a time against pieces of the context that stay in the cache.
#include "ops/attention.h"

#include <algorithm>
#include <vector>

#include "ops/attention_rows.h"
#include "ops/attention_shape.h"
#include "ops/dot.h"
#include "rung/error.h"
#include "tensor/decode.h"

namespace rung {

namespace {

constexpr int64_t kTokensOfTask = 12;  // neighbouring queries of one head that share each piece of k and v
constexpr int64_t kKeysOfPiece = 64;

// Query rows that read the same key/value head: neighbouring tokens of one head, or the heads of a group at
// one token.
struct Rows {
  const float* q;
  float* y;
  size_t stride, count;
  int64_t first_keys;    // keys that the first row sees
  int64_t keys_per_row;  // how many more each next one does: 1 for tokens, 0 for heads
  int64_t keys_of(size_t row) const { return first_keys + static_cast<int64_t>(row) * keys_per_row; }
};

// The rows of keys or values that belong to one head.
struct HeadRows {
  const Tensor& tensor;  // [context, kv_heads, head_dim]
  int64_t kv_head;

  struct Piece {
    const float* rows;
    size_t stride;
  };
  // Rows [begin, begin + count) as float32: where they are, or decoded into buffer.
  Piece piece(int64_t begin, int64_t count, std::vector<float>& buffer) const {
    const int64_t head_dim = tensor.shape()[2], stride = tensor.shape()[1] * head_dim;
    const int64_t first = begin * stride + kv_head * head_dim;
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

// Each row's result depends on that row alone: every score is a dot product summed as ops/dot.h says, and
// keys are added in ascending order.
void attend(const AttentionShape& shape, const Rows& rows, const HeadRows& k, const HeadRows& v) {
  static thread_local std::vector<float> scratch, decoded;
  const int64_t most_keys = rows.keys_of(rows.count - 1);
  const size_t row_scores = static_cast<size_t>(most_keys), head_dim = static_cast<size_t>(shape.head_dim);
  if (scratch.size() < rows.count * row_scores) scratch.resize(rows.count * row_scores);
  float* scores = scratch.data();

  for (int64_t key = 0; key < most_keys; key += kKeysOfPiece) {
    const int64_t keys = std::min(kKeysOfPiece, most_keys - key);
    const HeadRows::Piece piece = k.piece(key, keys, decoded);
    dot_tiles(piece.rows, static_cast<size_t>(keys), piece.stride, rows.q, rows.count, rows.stride, head_dim,
              scores + key, row_scores);
  }
  float sums[64];
  for (size_t r = 0; r < rows.count; ++r) {
    // A score of a key behind the query was computed along with the others; it is not looked at.
    sums[r] =
        softmax_numerators(scores + r * row_scores, static_cast<size_t>(rows.keys_of(r)), shape.scale());
    std::fill_n(rows.y + r * rows.stride, head_dim, 0.0f);
  }
  for (int64_t key = 0; key < most_keys; key += kKeysOfPiece) {
    // Up to `shared` every row sees the piece's keys.
    const int64_t end = std::min(key + kKeysOfPiece, most_keys), shared = std::min(end, rows.first_keys);
    const HeadRows::Piece piece = v.piece(key, end - key, decoded);
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

}  // namespace

void attention(Cpu& device, Tensor& y, const Tensor& q, const Tensor& k, const Tensor& v) {
  const AttentionShape shape = check_attention(y, q, k, v, Place::host);
  if (k.dtype() != DType::f32 && k.dtype() != DType::f16 && k.dtype() != DType::bf16) {
    fail("attention: k and v are ", name(k.dtype()), ", expected F32, F16 or BF16");
  }
  const float* queries = q.data<float>();
  float* outputs = y.data<float>();
  if (y.elements() == 0) return;
  if (shape.tokens >= 4) {
    const int64_t blocks = (shape.tokens + kTokensOfTask - 1) / kTokensOfTask;
    device.pool.parallel_for(static_cast<size_t>(blocks * shape.heads), [&](size_t task) {
      // The last tokens have most keys: they go first.
      const int64_t block = blocks - 1 - static_cast<int64_t>(task) / shape.heads;
      const int64_t head = static_cast<int64_t>(task) % shape.heads, token = block * kTokensOfTask;
      const int64_t count = std::min(kTokensOfTask, shape.tokens - token);
      const int64_t offset = token * shape.query_stride() + head * shape.head_dim;
      attend(shape,
             {queries + offset, outputs + offset, static_cast<size_t>(shape.query_stride()),
              static_cast<size_t>(count), shape.keys_of(token), 1},
             {k, head / shape.group()}, {v, head / shape.group()});
    });
  } else {
    // Few tokens: the heads of a group share the keys and values that one of them reads.
    constexpr int64_t kHeads = 32;
    const int64_t parts = (shape.group() + kHeads - 1) / kHeads;
    device.pool.parallel_for(static_cast<size_t>(shape.tokens * shape.kv_heads * parts), [&](size_t task) {
      const int64_t part = static_cast<int64_t>(task) % parts, group = static_cast<int64_t>(task) / parts;
      const int64_t kv_head = group % shape.kv_heads, token = group / shape.kv_heads;
      const int64_t head = kv_head * shape.group() + part * kHeads;
      const int64_t count = std::min(kHeads, shape.group() - part * kHeads);
      const int64_t offset = token * shape.query_stride() + head * shape.head_dim;
      attend(shape,
             {queries + offset, outputs + offset, static_cast<size_t>(shape.head_dim),
              static_cast<size_t>(count), shape.keys_of(token), 0},
             {k, kv_head}, {v, kv_head});
    });
  }
}

}  // namespace rung
