// What the CUDA kernels for attention over several sequences share: where a sequence's queries and keys are,
// sixteen bytes of a row at a time, and the softmax of a tile. All of them compute a query's tile in this
// order, so that they give the same bits (but for the tensor cores):
//
//   score   products added one by one, element 0 first, each with one rounding (fused); then the scale
//   sum     exponentials of keys j and j + 32 of the tile, then halves of the warp folded onto each other
//   values  weight times value added key by key, fused
//   merge   total * kept + tile * added, tile 0 first
#pragma once

#include <cuda_pipeline.h>

#include "ops/elements.cuh"
#include "ops/online_softmax.h"
#include "ops/sequence_attention_shape.h"
#include "ops/vector.cuh"

namespace rung {

constexpr int kWarp = 32;

// AttentionSequences as kernels see them.
struct DeviceSequences {
  const int32_t *query_begin, *context, *first_row, *query_tile_begin, *key_tile_begin;
  int count;

  explicit DeviceSequences(const AttentionSequences& s)
      : query_begin(s.query_begin.data<int32_t>()),
        context(s.context.data<int32_t>()),
        first_row(s.first_row.data<int32_t>()),
        query_tile_begin(s.query_tile_begin.data<int32_t>()),
        key_tile_begin(s.key_tile_begin.data<int32_t>()),
        count(static_cast<int>(s.count())) {}

  __device__ int queries(int sequence) const { return query_begin[sequence + 1] - query_begin[sequence]; }
  // The row of k and v that holds a key of the sequence.
  __device__ int64_t row(int sequence, int64_t key) const { return first_row[sequence] + key; }
};

// The sequence to which a tile belongs: the last one whose tiles begin at or before it. tile_begin [count +
// 1].
__device__ inline int sequence_of_tile(const int32_t* tile_begin, int count, int tile) {
  int low = 0, high = count;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (tile_begin[middle] <= tile) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

// Sixteen bytes of a row.
template <class Element>
constexpr int kPieceElements = 16 / sizeof(Element);
template <class Element>
using Piece = Vector<Element, kPieceElements<Element>>;

template <class Element>
__device__ Piece<Element> zero_piece() {
  Piece<Element> piece;
  for (int i = 0; i < kPieceElements<Element>; ++i) store_rounded(piece.elements[i], 0.0f);
  return piece;
}

// Elements d … of a row of head_dim, zeros behind its end.
template <class Element>
__device__ Piece<Element> load_piece(const Element* row, int d, int head_dim) {
  Piece<Element> piece = zero_piece<Element>();
  for (int i = 0; i < kPieceElements<Element> && d + i < head_dim; ++i) piece.elements[i] = row[d + i];
  return piece;
}

// Begins to copy keys [begin, begin + keys) of one head to shared memory: key i to rows[i * pieces_stride …];
// zeros for the rest of the tile. Lane `lane` of `lanes` does its share. The tile is there when each lane has
// waited for its copies (__pipeline_wait_prior) and then for the others (a barrier).
// values: k or v, from the element where the head's part of row 0 begins, rows kv_stride elements apart;
// pieces: of a row.
template <class Element>
__device__ void load_tile(Piece<Element>* rows, int pieces_stride, int pieces, const Element* values,
                          const DeviceSequences& sequences, int sequence, int64_t begin, int keys,
                          int64_t kv_stride, int head_dim, int lane, int lanes) {
  constexpr int kElements = kPieceElements<Element>;
  const bool whole_pieces = head_dim % kElements == 0;
  const int count = kTileKeys * pieces, row_step = lanes / pieces, piece_step = lanes % pieces;
  int row = lane / pieces, piece = lane % pieces;
  for (int i = lane; i < count; i += lanes) {
    const bool there = row < keys;
    const Element* from = values + (there ? sequences.row(sequence, begin + row) * kv_stride : 0);
    Piece<Element>* to = rows + row * pieces_stride + piece;
    if (whole_pieces) {
      __pipeline_memcpy_async(to, from + piece * kElements, 16, there ? 0 : 16);
    } else {
      *to = there ? load_piece(from, piece * kElements, head_dim) : zero_piece<Element>();
    }
    row += row_step, piece += piece_step;
    if (piece >= pieces) piece -= pieces, ++row;
  }
}

// Pieces between the beginnings of rows in shared memory: an odd number, so that neighbouring threads that
// read the same piece of neighbouring rows meet different banks.
__host__ __device__ constexpr int padded_pieces(int pieces) {
  return pieces | 1;
}

// The softmax of a row's tile by one warp: lane l holds the scores of keys l and l + 32, minus infinity where
// the query does not see them, and gets exp(score - maximum) in their place.
__device__ inline SoftmaxState softmax_of_tile(float& first, float& second) {
  float maximum = fmaxf(first, second);
  for (int offset = kWarp / 2; offset > 0; offset /= 2) {
    maximum = fmaxf(maximum, __shfl_xor_sync(0xffffffffu, maximum, offset));
  }
  const float shift = maximum == -INFINITY ? 0 : maximum;
  first = expf(__fsub_rn(first, shift));
  second = expf(__fsub_rn(second, shift));
  float sum = __fadd_rn(first, second);
  for (int offset = kWarp / 2; offset > 0; offset /= 2) {
    sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  }
  return {maximum, sum};
}

// merge() of ops/online_softmax.h.
__device__ inline MergeFactors merge_states(SoftmaxState& total, SoftmaxState tile) {
  const float largest = fmaxf(total.maximum, tile.maximum);
  if (largest == -INFINITY) return {1, 0};
  const MergeFactors factors{expf(total.maximum - largest), expf(tile.maximum - largest)};
  total = {largest, __fmaf_rn(tile.sum, factors.added, __fmul_rn(total.sum, factors.kept))};
  return factors;
}

__device__ inline float merge_values(float total, float tile, MergeFactors factors) {
  return __fmaf_rn(tile, factors.added, __fmul_rn(total, factors.kept));
}

}  // namespace rung
