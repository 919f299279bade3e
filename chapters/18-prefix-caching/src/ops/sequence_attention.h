// Causal attention for the tokens of several sequences at once, each sequence over its own keys and values,
// which stand in blocks of the cache wherever there was one free (Kwon et al. 2023, arXiv:2309.06180).
//
//   y of query i of sequence s = attention (ops/attention.h) of that query over the first `keys` keys of s,
//   keys = context[s] - queries of s + i + 1
//   key j of s stands in row block_table[first_block[s] + j / block_size] * block_size + j % block_size
//
// A query's result has the same bits whatever other sequences are there, and whether its sequence's tokens
// come one at a time or many at once: the context is cut into tiles of kTileKeys keys, counted from its
// beginning, and the tiles are merged in ascending order (ops/online_softmax.h). Memory grows linearly with
// the context. On a GPU this needs Cuda::batch_invariant; without it prefill is on tensor cores where it can
// be.
#pragma once

#include <vector>

#include "rung/device.h"
#include "rung/span.h"
#include "tensor/tensor.h"

namespace rung {

// n sequences, their queries packed one after the other. A query that sees no key at all (context[s] smaller
// than its queries: the first ones) is padding.
struct AttentionSequences {
  Tensor query_begin;  // [n + 1] i32: the queries of s are rows query_begin[s] … query_begin[s + 1] - 1
  Tensor context;      // [n] i32, 0 or more: keys that its last query sees
  Tensor first_block;  // [n] i32: where in block_table its blocks begin
  // The same on the host, for whoever has to choose the size of a launch. (On Cpu the same memory.)
  Span<const int32_t> host_query_begin, host_context, host_first_block;
  // How the work on CUDA is shared out; not needed on Cpu.
  Tensor query_tile_begin, key_tile_begin;  // [n + 1] i32: AttentionTiles
  int64_t query_tiles = 0, key_tiles = 0;   // of all sequences
  // Where the keys are.
  Tensor block_table;  // i32: the blocks of all sequences, in the order of their keys
  Span<const int32_t> host_block_table;
  int64_t block_size = 1;  // rows of a block, a power of two

  int64_t count() const { return static_cast<int64_t>(host_context.size()); }
  int64_t most_queries() const;  // of one sequence; 0 if there is none
  int64_t most_context() const;
};

// The tiles of the sequences before s, for each s and for all: a sequence of several queries is cut into
// tiles of kTileQueries of them, each of which goes through all keys; a sequence of a single query into tiles
// of keys, since a GPU would have too little to do otherwise. Each list counts its own sequences only.
constexpr int kTileQueries = 128;
struct AttentionTiles {
  std::vector<int32_t> query_begin, key_begin;  // [n + 1]
};
AttentionTiles attention_tiles(Span<const int32_t> query_begin, Span<const int32_t> context);

// y, q [tokens, heads, head_dim] f32, tokens = query_begin[n]
// k, v [rows, kv_heads, head_dim], both f32, f16 or bf16: one layer's whole cache
// y of padding is 0.
void attention(Cpu& device, Tensor& y, const Tensor& q, const Tensor& k, const Tensor& v,
               const AttentionSequences& sequences);
void attention(Cuda& device, Tensor& y, const Tensor& q, const Tensor& k, const Tensor& v,
               const AttentionSequences& sequences);

}  // namespace rung
