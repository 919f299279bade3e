// The work of one task of attention on the CPU, whichever sequences there are.
#pragma once

#include "tensor/tensor.h"

namespace rung {

// Query rows that read the same key/value head of one sequence: neighbouring tokens of one head, or the heads
// of a group at one token.
struct QueryRows {
  const float* q;
  float* y;
  size_t stride, count;  // elements between rows of q and of y; at most 64 rows
  int64_t first_keys;    // keys that the first row sees, at least 1
  int64_t keys_per_row;  // how many more each next one does: 1 for tokens, 0 for heads
  float scale;           // of scores
  int64_t keys_of(size_t row) const { return first_keys + static_cast<int64_t>(row) * keys_per_row; }
};

// Where a sequence's keys are: key j in row blocks[j / block_size] * block_size + j % block_size.
struct KeyRows {
  const int32_t* blocks;
  int64_t block_size;
  int64_t operator()(int64_t key) const { return blocks[key / block_size] * block_size + key % block_size; }
};

// k, v [rows, kv_heads, head_dim], f32, f16 or bf16. Each query
// row's result depends on that row alone: every score is a dot product summed as ops/dot.h says, values are
// added key by key within a tile of kTileKeys, and tiles are merged in ascending order.
void attend(const QueryRows& rows, const Tensor& k, const Tensor& v, const KeyRows& key_rows,
            int64_t kv_head);

}  // namespace rung
