// Attention of one sequence on the CPU, shared out among threads.
#include "ops/attention.h"

#include <algorithm>

#include "ops/attend.h"
#include "ops/attention_shape.h"
#include "rung/error.h"

namespace rung {

namespace {

constexpr int64_t kTokensOfTask = 12;  // neighbouring queries of one head that share each piece of k and v

}  // namespace

void attention(Cpu& device, Tensor& y, const Tensor& q, const Tensor& k, const Tensor& v) {
  const AttentionShape shape = check_attention(y, q, k, v, Place::host);
  if (k.dtype() != DType::f32 && k.dtype() != DType::f16 && k.dtype() != DType::bf16) {
    fail("attention: k and v are ", name(k.dtype()), ", expected F32, F16 or BF16");
  }
  const float* queries = q.data<float>();
  float* outputs = y.data<float>();
  if (y.elements() == 0) return;
  const int32_t first_block = 0;  // all keys stand in one block
  const KeyRows key_rows{&first_block, shape.context};
  if (shape.tokens >= 4) {
    const int64_t blocks = (shape.tokens + kTokensOfTask - 1) / kTokensOfTask;
    device.pool.parallel_for(static_cast<size_t>(blocks * shape.heads), [&](size_t task) {
      // The last tokens have most keys: they go first.
      const int64_t block = blocks - 1 - static_cast<int64_t>(task) / shape.heads;
      const int64_t head = static_cast<int64_t>(task) % shape.heads, token = block * kTokensOfTask;
      const int64_t count = std::min(kTokensOfTask, shape.tokens - token);
      const int64_t offset = token * shape.query_stride() + head * shape.head_dim;
      attend({queries + offset, outputs + offset, static_cast<size_t>(shape.query_stride()),
              static_cast<size_t>(count), shape.keys_of(token), 1, shape.scale()},
             k, v, key_rows, head / shape.group());
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
      attend({queries + offset, outputs + offset, static_cast<size_t>(shape.head_dim),
              static_cast<size_t>(count), shape.keys_of(token), 0, shape.scale()},
             k, v, key_rows, kv_head);
    });
  }
}

}  // namespace rung
