// Attention of several sequences on the CPU: every sequence cut into tasks, all tasks in one parallel loop.
#include "ops/sequence_attention.h"

#include <algorithm>
#include <vector>

#include "ops/attend.h"
#include "ops/sequence_attention_shape.h"
#include "rung/error.h"

namespace rung {

namespace {

constexpr int64_t kTokensOfTask = 12;  // neighbouring queries of one head that share each piece of k and v
constexpr int64_t kHeadsOfTask = 32;   // heads of a group that share the keys and values of one query

// The rows of y that begin at (token, head): `tokens` of one head, or, where tokens is 1, `heads` of a group.
struct Task {
  int64_t token, tokens, head, heads;
  int64_t keys;  // that the first token sees
  KeyRows key_rows;
};

// Neighbouring queries of a head where there are several, else the heads of a group.
void add_tasks(const SequenceAttentionShape& shape, Task queries, std::vector<Task>& tasks) {
  if (queries.tokens >= 4) {
    for (int64_t t = 0; t < queries.tokens; t += kTokensOfTask) {
      const int64_t tokens = std::min(kTokensOfTask, queries.tokens - t);
      for (int64_t head = 0; head < shape.heads; ++head) {
        tasks.push_back({queries.token + t, tokens, head, 1, queries.keys + t, queries.key_rows});
      }
    }
    return;
  }
  for (int64_t t = 0; t < queries.tokens; ++t) {
    for (int64_t head = 0; head < shape.heads; head += shape.group()) {
      for (int64_t part = 0; part < shape.group(); part += kHeadsOfTask) {
        tasks.push_back({queries.token + t, 1, head + part, std::min(kHeadsOfTask, shape.group() - part),
                         queries.keys + t, queries.key_rows});
      }
    }
  }
}

}  // namespace

void attention(Cpu& device, Tensor& y, const Tensor& q, const Tensor& k, const Tensor& v,
               const AttentionSequences& sequences) {
  const SequenceAttentionShape shape = check_attention(y, q, k, v, sequences, Place::host);
  const float* queries = q.data<float>();
  float* outputs = y.data<float>();
  std::vector<Task> tasks;
  for (size_t s = 0; s < sequences.host_context.size(); ++s) {
    // BEGIN SOLUTION 14.2
    const int64_t begin = sequences.host_query_begin[s], end = sequences.host_query_begin[s + 1];
    const int64_t context = sequences.host_context[s];
    const int64_t padding = std::max<int64_t>(end - begin - context, 0);
    std::fill_n(outputs + begin * shape.query_stride(), padding * shape.query_stride(), 0.0f);
    const int64_t tokens = end - begin - padding;
    const KeyRows key_rows{sequences.host_block_table.data() + sequences.host_first_block[s],
                           sequences.block_size};
    add_tasks(shape, {begin + padding, tokens, 0, 0, context - tokens + 1, key_rows}, tasks);
    // STUB: (void)s, (void)add_tasks;
    // STUB: not_done("14.2");
    // END SOLUTION
  }
  const float scale = shape.scale();
  device.pool.parallel_for(tasks.size(), [&](size_t i) {
    const Task& task = tasks[tasks.size() - 1 - i];  // the last tokens have most keys: they go first
    const int64_t offset = task.token * shape.query_stride() + task.head * shape.head_dim;
    const bool of_tokens = task.heads == 1 && task.tokens > 1;
    attend({queries + offset, outputs + offset,
            static_cast<size_t>(of_tokens ? shape.query_stride() : shape.head_dim),
            static_cast<size_t>(of_tokens ? task.tokens : task.heads), task.keys, of_tokens ? 1 : 0, scale},
           k, v, task.key_rows, task.head / shape.group());
  });
}

}  // namespace rung
