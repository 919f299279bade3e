// Decode attention on CUDA: one query for each sequence, its context split into tiles that are worked on side
// by side and merged at the end (Dao, Haziza, Massa, Sizov 2023, "Flash-Decoding").
#include "ops/attention_tiles.cuh"
#include "ops/sequence_attention_kernels.h"
#include "rung/error.h"
#include "rung/not_done.h"

namespace rung {

namespace {

constexpr int kHeads = 4;  // query heads that share what is read of a key or value from shared memory

// Where the parts of a warp's shared memory are, in floats. Their sizes keep all of them aligned to 16 bytes.
template <class Element>
struct Layout {
  int pieces, pieces_stride, query_stride, queries, weights, rows, floats;
  __host__ __device__ Layout(int head_dim, int group)
      : pieces((head_dim + kPieceElements<Element> - 1) / kPieceElements<Element>),
        pieces_stride(padded_pieces(pieces)),
        query_stride(pieces * kPieceElements<Element>),
        queries(0),
        weights(group * query_stride),
        rows(weights + group * kTileKeys),
        floats(rows + kTileKeys * pieces_stride * 4) {}
};

// Grid: tiles of keys by blockDim.x / 32, kv_heads; one warp a tile, for all query heads that read it.
// states [tiles, heads], values [tiles, heads, head_dim]. kColumns: head_dim / 64, rounded up; a lane's
// values are 2 columns in every 64.
template <class Element, int kColumns>
__global__ void decode_tiles_kernel(SoftmaxState* states, float* values, const float* q, const Element* k,
                                    const Element* v, SequenceAttentionShape shape, float scale,
                                    DeviceSequences sequences, int tiles) {
  extern __shared__ __align__(16) float shared[];
  constexpr int kElements = kPieceElements<Element>;
  const int head_dim = static_cast<int>(shape.head_dim), group = static_cast<int>(shape.group());
  const int warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
  const int tile = blockIdx.x * (blockDim.x / kWarp) + warp;
  if (tile >= tiles) return;
  const Layout<Element> layout(head_dim, group);
  float* memory = shared + warp * layout.floats;
  float *queries = memory + layout.queries, *weights = memory + layout.weights;
  auto* rows = reinterpret_cast<Piece<Element>*>(memory + layout.rows);

  const int sequence = sequence_of_tile(sequences.key_tile_begin, sequences.count, tile);
  const int64_t begin = static_cast<int64_t>(tile - sequences.key_tile_begin[sequence]) * kTileKeys;
  const int keys = min(static_cast<int64_t>(kTileKeys), sequences.context[sequence] - begin);
  const int first_head = blockIdx.y * group;
  const int64_t kv_offset = static_cast<int64_t>(blockIdx.y) * head_dim;
  const float* query = q + sequences.query_begin[sequence] * shape.query_stride() + first_head * head_dim;

  load_tile(rows, layout.pieces_stride, layout.pieces, k + kv_offset, sequences, sequence, begin, keys,
            shape.kv_stride(), head_dim, lane, kWarp);
  for (int i = lane; i < group * layout.query_stride; i += kWarp) {
    const int head = i / layout.query_stride, d = i % layout.query_stride;
    queries[i] = d < head_dim ? query[head * head_dim + d] : 0.0f;
  }
  __syncwarp();

  // BEGIN SOLUTION 16.4
  // A lane has keys lane and lane + 32.
  for (int h = 0; h < group; h += kHeads) {
    float scores[kHeads][2] = {};
    for (int piece = 0; piece < layout.pieces; ++piece) {
      const Piece<Element> first = rows[lane * layout.pieces_stride + piece],
                           second = rows[(lane + kWarp) * layout.pieces_stride + piece];
      for (int part = 0; part < kElements; part += 4) {
        for (int n = 0; n < kHeads; ++n) {
          if (h + n >= group) continue;
          const auto query =
              load_vector<4>(queries + (h + n) * layout.query_stride + piece * kElements + part);
          for (int i = 0; i < 4; ++i) {
            scores[n][0] = __fmaf_rn(query.elements[i], to_float(first.elements[part + i]), scores[n][0]);
            scores[n][1] = __fmaf_rn(query.elements[i], to_float(second.elements[part + i]), scores[n][1]);
          }
        }
      }
    }
    for (int n = 0; n < kHeads; ++n) {
      if (h + n >= group) continue;
      float first = lane < keys ? __fmul_rn(scores[n][0], scale) : -INFINITY;
      float second = lane + kWarp < keys ? __fmul_rn(scores[n][1], scale) : -INFINITY;
      const SoftmaxState state = softmax_of_tile(first, second);
      weights[(h + n) * kTileKeys + lane] = first;
      weights[(h + n) * kTileKeys + lane + kWarp] = second;
      if (lane == 0) states[tile * shape.heads + first_head + h + n] = state;
    }
  }
  __syncwarp();  // keys have been read, and weights are there
  load_tile(rows, layout.pieces_stride, layout.pieces, v + kv_offset, sequences, sequence, begin, keys,
            shape.kv_stride(), head_dim, lane, kWarp);
  __syncwarp();

  for (int h = 0; h < group; h += kHeads) {
    float sums[kHeads][kColumns * 2] = {};
    for (int first = 0; first < keys; first += 4) {
      Vector<float, 4> weight[kHeads];
      for (int n = 0; n < kHeads; ++n) {
        if (h + n < group) weight[n] = load_vector<4>(weights + (h + n) * kTileKeys + first);
      }
      for (int key = first; key < first + 4; ++key) {
        const auto* value = reinterpret_cast<const Element*>(rows + key * layout.pieces_stride);
        for (int c = 0; c < kColumns; ++c) {
          if (64 * c + 2 * lane >= layout.query_stride) continue;
          const auto columns = load_vector<2>(value + 64 * c + 2 * lane);
          for (int i = 0; i < 2; ++i) {
            const float element = to_float(columns.elements[i]);
            for (int n = 0; n < kHeads; ++n) {
              if (h + n >= group) continue;
              sums[n][2 * c + i] = __fmaf_rn(weight[n].elements[key - first], element, sums[n][2 * c + i]);
            }
          }
        }
      }
    }
    for (int n = 0; n < kHeads; ++n) {
      if (h + n >= group) continue;
      float* to = values + (tile * shape.heads + first_head + h + n) * head_dim;
      for (int c = 0; c < kColumns * 2; ++c) {
        const int d = c / 2 * 64 + 2 * lane + c % 2;
        if (d < head_dim) to[d] = sums[n][c];
      }
    }
  }
  // STUB: (void)states, (void)values, (void)v, (void)scale, (void)queries, (void)weights;
  // STUB: RUNG_NOT_DONE("16.4");
  // END SOLUTION
}

// Grid: heads, sequences; one thread a column of y. Merges the tiles of each sequence that has one query.
__global__ void merge_tiles_kernel(float* y, const SoftmaxState* states, const float* values,
                                   SequenceAttentionShape shape, DeviceSequences sequences) {
  const int sequence = blockIdx.y, d = threadIdx.x;
  const int64_t head = blockIdx.x;
  if (sequences.queries(sequence) != 1 || d >= shape.head_dim) return;
  // BEGIN SOLUTION 16.5
  SoftmaxState state;
  float total = 0;
  const int end = sequences.key_tile_begin[sequence + 1];
#pragma unroll 4
  for (int64_t tile = sequences.key_tile_begin[sequence]; tile < end; ++tile) {
    const int64_t row = tile * shape.heads + head;
    const MergeFactors factors = merge_states(state, states[row]);
    total = merge_values(total, values[row * shape.head_dim + d], factors);
  }
  y[sequences.query_begin[sequence] * shape.query_stride() + head * shape.head_dim + d] =
      sequences.context[sequence] < 1 ? 0.0f : __fdiv_rn(total, state.sum);
  // STUB: (void)head, (void)y, (void)states, (void)values;
  // STUB: RUNG_NOT_DONE("16.5");
  // END SOLUTION
}

template <class Element, int kColumns>
void launch(Cuda& device, SoftmaxState* states, float* values, const Tensor& q, const Element* k,
            const Element* v, const SequenceAttentionShape& shape, const AttentionSequences& sequences) {
  const Layout<Element> layout(static_cast<int>(shape.head_dim), static_cast<int>(shape.group()));
  const size_t bytes_of_warp = static_cast<size_t>(layout.floats) * sizeof(float);
  const size_t most = device.properties().sharedMemPerBlockOptin;
  if (bytes_of_warp > most) {
    fail("attention: ", shape.group(), " heads of ", shape.head_dim, " on one need ", bytes_of_warp,
         " bytes of shared memory, a block has at most ", most);
  }
  const unsigned warps = bytes_of_warp * 4 <= device.properties().sharedMemPerBlock ? 4 : 1;
  const size_t bytes = warps * bytes_of_warp;
  if (bytes > device.properties().sharedMemPerBlock) {
    RUNG_CUDA_CHECK(cudaFuncSetAttribute(decode_tiles_kernel<Element, kColumns>,
                                         cudaFuncAttributeMaxDynamicSharedMemorySize,
                                         static_cast<int>(bytes)));
  }
  const dim3 grid((static_cast<unsigned>(sequences.key_tiles) + warps - 1) / warps,
                  static_cast<unsigned>(shape.kv_heads));
  decode_tiles_kernel<Element, kColumns><<<grid, warps * kWarp, bytes, device.stream()>>>(
      states, values, q.data<float>(), k, v, shape, shape.scale(), DeviceSequences(sequences),
      static_cast<int>(sequences.key_tiles));
  RUNG_CUDA_CHECK_LAUNCH("attention_decode_split");
}

}  // namespace

void attention_decode_split(Cuda& device, Tensor& y, const Tensor& q, const Tensor& k, const Tensor& v,
                            const AttentionSequences& sequences) {
  const SequenceAttentionShape shape = check_attention(y, q, k, v, sequences, Place::device);
  if (shape.head_dim > 256) fail("attention: head_dim is ", shape.head_dim, ", expected at most 256");
  if (y.elements() == 0) return;
  const size_t rows = static_cast<size_t>(sequences.key_tiles * shape.heads);
  auto* states = static_cast<SoftmaxState*>(
      device.workspace(rows * (sizeof(SoftmaxState) + static_cast<size_t>(shape.head_dim) * sizeof(float))));
  auto* values = reinterpret_cast<float*>(states + rows);
  if (sequences.key_tiles > 0) {
    with_elements("attention: k", k, [&](auto* keys) {
      using Element = std::remove_pointer_t<decltype(keys)>;
      const auto* from = static_cast<const Element*>(v.raw());
      if (shape.head_dim <= 64)
        return launch<Element, 1>(device, states, values, q, keys, from, shape, sequences);
      if (shape.head_dim <= 128)
        return launch<Element, 2>(device, states, values, q, keys, from, shape, sequences);
      return launch<Element, 4>(device, states, values, q, keys, from, shape, sequences);
    });
  }
  const dim3 grid(static_cast<unsigned>(shape.heads), static_cast<unsigned>(sequences.count()));
  merge_tiles_kernel<<<grid, static_cast<unsigned>((shape.head_dim + kWarp - 1) / kWarp * kWarp), 0,
                       device.stream()>>>(y.data<float>(), states, values, shape, DeviceSequences(sequences));
  RUNG_CUDA_CHECK_LAUNCH("attention merge of tiles");
}

}  // namespace rung
