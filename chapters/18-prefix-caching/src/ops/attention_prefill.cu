// Prefill attention on CUDA: tiles of queries against tiles of keys; scores never leave shared memory.
#include "ops/attention_tiles.cuh"
#include "ops/sequence_attention_kernels.h"
#include "rung/error.h"
#include "rung/not_done.h"

namespace rung {

namespace {

constexpr int kQueries = 32;  // of a block; a sequence's tile of kTileQueries is shared by several blocks
constexpr int kBlocksOfTile = kTileQueries / kQueries;
constexpr int kThreads = 128;       // 8 rows of threads with 4 queries each, 16 columns with 4 keys each
constexpr int kRows = 4;            // queries of a thread
constexpr int kWeightsStride = 68;  // floats between rows of weights: a tile and a bank's shift

// Where the parts of a block's shared memory are, in floats.
template <class Element>
struct Layout {
  int pieces, pieces_stride, query_stride, queries, weights, factors, rows, floats;
  explicit __host__ __device__ Layout(int head_dim)
      : pieces((head_dim + kPieceElements<Element> - 1) / kPieceElements<Element>),
        pieces_stride(padded_pieces(pieces)),
        query_stride(pieces * kPieceElements<Element>),
        queries(0),
        weights(kQueries * query_stride),
        factors(weights + kQueries * kWeightsStride),
        rows(factors + 2 * kQueries),
        floats(rows + kTileKeys * pieces_stride * 4) {}
};

// Grid: heads, kBlocksOfTile blocks for each tile of queries; kThreads threads. kColumns: head_dim / 64,
// rounded up. A thread's scores are those of 4 queries with keys x, x + 16 …; its values are 4 columns in
// every 64.
template <class Element, int kColumns>
__global__ void prefill_kernel(float* y, const float* q, const Element* k, const Element* v,
                               SequenceAttentionShape shape, float scale, DeviceSequences sequences) {
  extern __shared__ __align__(16) float shared[];
  constexpr int kElements = kPieceElements<Element>;
  const int head_dim = static_cast<int>(shape.head_dim);
  const Layout<Element> layout(head_dim);
  float *queries = shared + layout.queries, *weights = shared + layout.weights;
  auto* factors = reinterpret_cast<MergeFactors*>(shared + layout.factors);
  auto* rows = reinterpret_cast<Piece<Element>*>(shared + layout.rows);
  const int warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp, x = threadIdx.x % 16,
            first_row = threadIdx.x / 16 * kRows;

  // The last tiles have most keys: they go first.
  const int block = gridDim.y - 1 - blockIdx.y, tile = block / kBlocksOfTile;
  const int sequence = sequence_of_tile(sequences.query_tile_begin, sequences.count, tile);
  const int first_query =
      (tile - sequences.query_tile_begin[sequence]) * kTileQueries + block % kBlocksOfTile * kQueries;
  const int count = sequences.queries(sequence) - first_query;  // valid queries of this block
  if (count <= 0) return;
  const int head = blockIdx.x;
  const int64_t kv_offset = static_cast<int64_t>(head / shape.group()) * head_dim;
  const int64_t query_row =
      (sequences.query_begin[sequence] + first_query) * shape.query_stride() + head * shape.head_dim;
  // Keys that the block's first query sees, and its last.
  const int first_keys = sequences.context[sequence] - sequences.queries(sequence) + first_query + 1;
  const int most_keys = first_keys + min(count, kQueries) - 1;

  for (int i = threadIdx.x; i < kQueries * layout.query_stride; i += kThreads) {
    const int row = i / layout.query_stride, d = i % layout.query_stride;
    queries[i] = row < count && d < head_dim ? q[query_row + row * shape.query_stride() + d] : 0.0f;
  }
  SoftmaxState state;  // of query warp * 8 + lane, in the first eight lanes
  float totals[kRows][kColumns * 4] = {};

  for (int begin = 0; begin < most_keys; begin += kTileKeys) {
    const int keys = min(kTileKeys, most_keys - begin);
    load_tile(rows, layout.pieces_stride, layout.pieces, k + kv_offset, sequences, sequence, begin, keys,
              shape.kv_stride(), head_dim, threadIdx.x, kThreads);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    // BEGIN SOLUTION 16.3
    float scores[kRows][4] = {};
    for (int piece = 0; piece < layout.pieces; ++piece) {
      Piece<Element> key[4];
#pragma unroll
      for (int c = 0; c < 4; ++c) key[c] = rows[(x + 16 * c) * layout.pieces_stride + piece];
#pragma unroll
      for (int part = 0; part < kElements; part += 4) {
        Vector<float, 4> query[kRows];
        for (int r = 0; r < kRows; ++r)
          query[r] =
              load_vector<4>(queries + (first_row + r) * layout.query_stride + piece * kElements + part);
        for (int i = 0; i < 4; ++i) {
          for (int c = 0; c < 4; ++c) {
            const float element = to_float(key[c].elements[part + i]);
            for (int r = 0; r < kRows; ++r)
              scores[r][c] = __fmaf_rn(query[r].elements[i], element, scores[r][c]);
          }
        }
      }
    }
    for (int r = 0; r < kRows; ++r) {
      for (int c = 0; c < 4; ++c) {
        const bool visible = begin + x + 16 * c < first_keys + first_row + r;
        weights[(first_row + r) * kWeightsStride + x + 16 * c] =
            visible ? __fmul_rn(scores[r][c], scale) : -INFINITY;
      }
    }
    __syncthreads();  // all scores are there, and nobody reads keys any more
    load_tile(rows, layout.pieces_stride, layout.pieces, v + kv_offset, sequences, sequence, begin, keys,
              shape.kv_stride(), head_dim, threadIdx.x, kThreads);
    __pipeline_commit();
    SoftmaxState tile_state;
    for (int i = 0; i < 8; ++i) {
      float* row = weights + (warp * 8 + i) * kWeightsStride;
      float first = row[lane], second = row[lane + kWarp];
      const SoftmaxState of_row = softmax_of_tile(first, second);
      row[lane] = first, row[lane + kWarp] = second;
      if (lane == i) tile_state = of_row;
    }
    if (lane < 8) factors[warp * 8 + lane] = merge_states(state, tile_state);
    __pipeline_wait_prior(0);
    __syncthreads();

    float sums[kRows][kColumns * 4] = {};
    const bool all_see_all = begin + kTileKeys <= first_keys;
    for (int first = 0; first < keys; first += 4) {
      Vector<float, 4> weight[kRows];
      for (int r = 0; r < kRows; ++r)
        weight[r] = load_vector<4>(weights + (first_row + r) * kWeightsStride + first);
      for (int key = first; key < first + 4; ++key) {
        const auto* value = reinterpret_cast<const Element*>(rows + key * layout.pieces_stride);
        for (int c = 0; c < kColumns; ++c) {
          if (64 * c + 4 * x >= layout.query_stride) continue;
          const auto columns = load_vector<4>(value + 64 * c + 4 * x);
          for (int i = 0; i < 4; ++i) {
            const float element = to_float(columns.elements[i]);
            for (int r = 0; r < kRows; ++r) {
              // 0 times an infinite value would not be 0: what a query does not see is left out.
              if (all_see_all || begin + key < first_keys + first_row + r) {
                sums[r][4 * c + i] = __fmaf_rn(weight[r].elements[key - first], element, sums[r][4 * c + i]);
              }
            }
          }
        }
      }
    }
    for (int r = 0; r < kRows; ++r) {
      for (int c = 0; c < kColumns * 4; ++c)
        totals[r][c] = merge_values(totals[r][c], sums[r][c], factors[first_row + r]);
    }
    // STUB: (void)scale, (void)v, (void)state, (void)totals, (void)factors, (void)weights;
    // STUB: RUNG_NOT_DONE("16.3");
    // END SOLUTION
    __syncthreads();
  }

  if (lane < 8) factors[warp * 8 + lane].kept = state.sum;
  __syncthreads();
  for (int r = 0; r < kRows; ++r) {
    const int row = first_row + r;
    if (row >= count) continue;
    for (int c = 0; c < kColumns * 4; ++c) {
      const int d = c / 4 * 64 + 4 * x + c % 4;
      if (d >= head_dim) continue;
      y[query_row + row * shape.query_stride() + d] =
          first_keys + row < 1 ? 0.0f : __fdiv_rn(totals[r][c], factors[row].kept);
    }
  }
}

template <class Element, int kColumns>
void launch(Cuda& device, Tensor& y, const Tensor& q, const Element* k, const Element* v,
            const SequenceAttentionShape& shape, const AttentionSequences& sequences) {
  const size_t bytes = static_cast<size_t>(Layout<Element>(static_cast<int>(shape.head_dim)).floats) * 4;
  if (bytes > device.properties().sharedMemPerBlock) {
    RUNG_CUDA_CHECK(cudaFuncSetAttribute(prefill_kernel<Element, kColumns>,
                                         cudaFuncAttributeMaxDynamicSharedMemorySize,
                                         static_cast<int>(bytes)));
  }
  const dim3 grid(static_cast<unsigned>(shape.heads),
                  static_cast<unsigned>(sequences.query_tiles * kBlocksOfTile));
  prefill_kernel<Element, kColumns><<<grid, kThreads, bytes, device.stream()>>>(
      y.data<float>(), q.data<float>(), k, v, shape, shape.scale(), DeviceSequences(sequences));
  RUNG_CUDA_CHECK_LAUNCH("attention_prefill_tiled");
}

}  // namespace

void attention_prefill_tiled(Cuda& device, Tensor& y, const Tensor& q, const Tensor& k, const Tensor& v,
                             const AttentionSequences& sequences) {
  const SequenceAttentionShape shape = check_attention(y, q, k, v, sequences, Place::device);
  if (shape.head_dim > 256) fail("attention: head_dim is ", shape.head_dim, ", expected at most 256");
  if (sequences.query_tiles == 0 || y.elements() == 0) return;
  with_elements("attention: k", k, [&](auto* keys) {
    using Element = std::remove_pointer_t<decltype(keys)>;
    const auto* values = static_cast<const Element*>(v.raw());
    if (shape.head_dim <= 64) return launch<Element, 1>(device, y, q, keys, values, shape, sequences);
    if (shape.head_dim <= 128) return launch<Element, 2>(device, y, q, keys, values, shape, sequences);
    return launch<Element, 4>(device, y, q, keys, values, shape, sequences);
  });
}

}  // namespace rung
