#include "ops/sequence_attention_shape.h"

#include <algorithm>
#include <cmath>

#include "ops/check.h"
#include "ops/online_softmax.h"
#include "rung/error.h"

namespace rung {

int64_t AttentionSequences::most_queries() const {
  int64_t most = 0;
  for (size_t s = 0; s < host_context.size(); ++s) {
    most = std::max<int64_t>(most, host_query_begin[s + 1] - host_query_begin[s]);
  }
  return most;
}

int64_t AttentionSequences::most_context() const {
  int64_t most = 0;
  for (const int32_t context : host_context) most = std::max<int64_t>(most, context);
  return most;
}

AttentionTiles attention_tiles(Span<const int32_t> query_begin, Span<const int32_t> context) {
  AttentionTiles tiles{{0}, {0}};
  for (size_t s = 0; s < context.size(); ++s) {
    const int32_t queries = query_begin[s + 1] - query_begin[s];
    const int32_t of_queries = queries == 1 ? 0 : (queries + kTileQueries - 1) / kTileQueries;
    const int32_t of_keys = queries == 1 ? (context[s] + kTileKeys - 1) / kTileKeys : 0;
    tiles.query_begin.push_back(tiles.query_begin.back() + of_queries);
    tiles.key_begin.push_back(tiles.key_begin.back() + of_keys);
  }
  return tiles;
}

float SequenceAttentionShape::scale() const {
  return 1 / std::sqrt(static_cast<float>(head_dim));
}

namespace {

// That the keys of sequence s are in the table, and their rows among those there are.
void check_blocks(const AttentionSequences& sequences, size_t s, int64_t rows) {
  const int64_t context = sequences.host_context[s], block_size = sequences.block_size;
  const int64_t blocks = (context + block_size - 1) / block_size, first = sequences.host_first_block[s];
  const Span<const int32_t> table = sequences.host_block_table;
  if (first < 0 || context < 0 || first + blocks > static_cast<int64_t>(table.size())) {
    fail("attention: sequence ", s, " has ", context, " keys in blocks from entry ", first,
         " of the block table on, which has ", table.size());
  }
  for (int64_t b = 0; b < blocks; ++b) {
    const int64_t block = table[static_cast<size_t>(first + b)];
    const int64_t end = block * block_size + std::min(block_size, context - b * block_size);
    if (block < 0 || end > rows) {
      fail("attention: sequence ", s, " reads block ", block, " up to row ", end, ", of ", rows);
    }
  }
}

}  // namespace

SequenceAttentionShape check_attention(const Tensor& y, const Tensor& q, const Tensor& k, const Tensor& v,
                                       const AttentionSequences& sequences, Place place) {
  if (q.shape().dims() != 3)
    fail("attention: q has shape ", q.shape().text(), ", expected [tokens, heads, head_dim]");
  if (k.shape().dims() != 3)
    fail("attention: k has shape ", k.shape().text(), ", expected [rows, kv_heads, head_dim]");
  const SequenceAttentionShape shape{q.shape()[0], sequences.count(), q.shape()[1], k.shape()[1],
                                     q.shape()[2]};
  check_operand("attention: q", q, DType::f32, q.shape(), place);
  check_operand("attention: y", y, DType::f32, q.shape(), place);
  check_operand("attention: k", k, {k.shape()[0], shape.kv_heads, shape.head_dim}, place);
  check_operand("attention: v", v, k.dtype(), k.shape(), place);
  if (shape.kv_heads == 0 || shape.heads % shape.kv_heads != 0) {
    fail("attention: ", shape.heads, " query heads cannot share ", shape.kv_heads,
         " key/value heads, expected a multiple");
  }
  check_operand("attention: query_begin", sequences.query_begin, DType::i32, {shape.sequences + 1}, place);
  check_operand("attention: context", sequences.context, DType::i32, {shape.sequences}, place);
  check_operand("attention: first_block", sequences.first_block, DType::i32, {shape.sequences}, place);
  check_operand("attention: block_table", sequences.block_table, DType::i32,
                {static_cast<int64_t>(sequences.host_block_table.size())}, place);
  if (place == Place::device) {
    check_operand("attention: query_tile_begin", sequences.query_tile_begin, DType::i32,
                  {shape.sequences + 1}, place);
    check_operand("attention: key_tile_begin", sequences.key_tile_begin, DType::i32, {shape.sequences + 1},
                  place);
  }
  if (sequences.block_size < 1 || (sequences.block_size & (sequences.block_size - 1)) != 0) {
    fail("attention: blocks of ", sequences.block_size, " rows, expected a power of two");
  }
  const Span<const int32_t> begin = sequences.host_query_begin;
  if (begin.size() != sequences.host_context.size() + 1 ||
      sequences.host_first_block.size() != sequences.host_context.size() || begin[0] != 0 ||
      begin[begin.size() - 1] != shape.tokens) {
    fail("attention: the sequences do not share out ", shape.tokens, " queries");
  }
  for (size_t s = 0; s < sequences.host_context.size(); ++s) {
    if (begin[s] > begin[s + 1]) fail("attention: sequence ", s, " has a negative number of queries");
    check_blocks(sequences, s, k.shape()[0]);
  }
  return shape;
}

}  // namespace rung
