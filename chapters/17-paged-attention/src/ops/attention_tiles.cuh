// What the CUDA kernels for attention over several sequences share: where a sequence's queries and keys are,
// sixteen bytes of a row at a time, and the softmax of a tile. All of them compute a query's tile in this
// order, so that they give the same bits (but for the tensor cores):
//
//   score   products added one by one, element 0 first, each with one rounding (fused); then the scale
//   sum     exponentials of keys j and j + 32 of the tile, then halves of the warp folded onto each other
//   values  weight times value added key by key, fused
//   merge   total * kept + tile * added, tile 0 first
#pragma once

#include "ops/elements.cuh"
#include "ops/online_softmax.h"
#include "ops/sequence_attention_shape.h"
#include "rung/not_done.h"

namespace rung {

constexpr int kWarp = 32;

// AttentionSequences as kernels see them.
struct DeviceSequences {
  const int32_t *query_begin, *context, *first_block, *query_tile_begin, *key_tile_begin, *block_table;
  int count, block_shift;  // block_size is 2^block_shift

  explicit DeviceSequences(const AttentionSequences& s)
      : query_begin(s.query_begin.data<int32_t>()),
        context(s.context.data<int32_t>()),
        first_block(s.first_block.data<int32_t>()),
        query_tile_begin(s.query_tile_begin.data<int32_t>()),
        key_tile_begin(s.key_tile_begin.data<int32_t>()),
        block_table(s.block_table.data<int32_t>()),
        count(static_cast<int>(s.count())),
        block_shift(0) {
    while ((int64_t{1} << block_shift) < s.block_size) ++block_shift;
  }

  __device__ int queries(int sequence) const { return query_begin[sequence + 1] - query_begin[sequence]; }
  // The row of k and v that holds a key of the sequence.
  __device__ int64_t row(int sequence, int64_t key) const {
    // BEGIN SOLUTION 17.2
    const int64_t block = block_table[first_block[sequence] + (key >> block_shift)];
    return (block << block_shift) + (key & ((int64_t{1} << block_shift) - 1));
    // STUB: (void)sequence, (void)key;
    // STUB: RUNG_NOT_DONE("17.2");
    // END SOLUTION
  }
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

// Neighbouring elements, moved by one instruction; aligned to their size.
template <class Element, int count>
struct alignas(sizeof(Element) * count) Vector {
  Element elements[count];
};
template <class Element>
constexpr int kPieceElements = 16 / sizeof(Element);
template <class Element>
using Piece = Vector<Element, kPieceElements<Element>>;

template <int count, class Element>
__device__ Vector<Element, count> load_vector(const Element* from) {
  return *reinterpret_cast<const Vector<Element, count>*>(from);
}

template <class Element>
__device__ Piece<Element> zero_piece() {
  Piece<Element> piece;
  for (int i = 0; i < kPieceElements<Element>; ++i) store_rounded(piece.elements[i], 0.0f);
  return piece;
}

// Elements d … of a row of head_dim, zeros behind its end. d is a multiple of a piece's elements; row is
// aligned to 16 bytes if head_dim is such a multiple too.
template <class Element>
__device__ Piece<Element> load_piece(const Element* row, int d, int head_dim) {
  constexpr int kElements = kPieceElements<Element>;
  if (head_dim % kElements == 0) return load_vector<kElements>(row + d);
  Piece<Element> piece = zero_piece<Element>();
  for (int i = 0; i < kElements && d + i < head_dim; ++i) piece.elements[i] = row[d + i];
  return piece;
}

// Copies keys [begin, begin + keys) of one head to shared memory: key i to rows[i * pieces_stride …]; zeros
// for the rest of the tile. Lane `lane` of `lanes` does its share; a barrier must follow.
// values: k or v, from the element where the head's part of row 0 begins, rows kv_stride elements apart;
// pieces: of a row.
template <class Element>
__device__ void load_tile(Piece<Element>* rows, int pieces_stride, int pieces, const Element* values,
                          const DeviceSequences& sequences, int sequence, int64_t begin, int keys,
                          int64_t kv_stride, int head_dim, int lane, int lanes) {
  constexpr int kAtOnce = 4;  // loads under way before the first one is waited for
  const int count = kTileKeys * pieces, row_step = lanes / pieces, piece_step = lanes % pieces;
  int row = lane / pieces, piece = lane % pieces;
  for (int first = lane; first < count; first += kAtOnce * lanes) {
    Piece<Element> loaded[kAtOnce];
    int place[kAtOnce];
#pragma unroll
    for (int n = 0; n < kAtOnce; ++n) {
      place[n] = row * pieces_stride + piece;
      loaded[n] = row < keys ? load_piece(values + sequences.row(sequence, begin + row) * kv_stride,
                                          piece * kPieceElements<Element>, head_dim)
                             : zero_piece<Element>();
      row += row_step, piece += piece_step;
      if (piece >= pieces) piece -= pieces, ++row;
    }
#pragma unroll
    for (int n = 0; n < kAtOnce; ++n) {
      if (first + n * lanes < count) rows[place[n]] = loaded[n];
    }
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
