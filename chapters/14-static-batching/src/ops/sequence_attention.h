// Causal attention for the tokens of several sequences at once, each sequence over its own keys and values.
//
//   y of query i of sequence s = attention (ops/attention.h) of that query over the first `keys` rows from
//   first_row[s], keys = context[s] - queries of s + i + 1
//
// A query's result has the same bits whatever other sequences are there: it depends on its sequence alone.
#pragma once

#include "rung/device.h"
#include "rung/span.h"
#include "tensor/tensor.h"

namespace rung {

// n sequences, their queries packed one after the other. A query that sees no key at all (context[s] smaller
// than its queries: the first ones) is padding.
struct AttentionSequences {
  Tensor query_begin;  // [n + 1] i32: the queries of s are rows query_begin[s] … query_begin[s + 1] - 1
  Tensor context;      // [n] i32, 0 or more: keys that its last query sees
  Tensor first_row;    // [n] i32: the row of k and v in which its keys begin
  // The same on the host, for whoever has to choose the size of a launch. (On Cpu the same memory.)
  Span<const int32_t> host_query_begin, host_context, host_first_row;

  int64_t count() const { return static_cast<int64_t>(host_context.size()); }
  int64_t most_queries() const;  // of one sequence; 0 if there is none
  int64_t most_context() const;
};

// y, q [tokens, heads, head_dim] f32, tokens = query_begin[n]
// k, v [rows, kv_heads, head_dim], both f32, f16 or bf16: one layer's whole cache, of which a sequence reads
//      rows first_row[s] … first_row[s] + context[s] - 1
// y of padding is 0.
void attention(Cpu& device, Tensor& y, const Tensor& q, const Tensor& k, const Tensor& v,
               const AttentionSequences& sequences);
void attention(Cuda& device, Tensor& y, const Tensor& q, const Tensor& k, const Tensor& v,
               const AttentionSequences& sequences);

}  // namespace rung
