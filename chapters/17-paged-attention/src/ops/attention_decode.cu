// Decode attention on CUDA: one query for each sequence, its context split into tiles that are worked on side
// by side and merged at the end (Dao, Haziza, Massa, Sizov 2023, "Flash-Decoding").
#include <algorithm>

#include "ops/attention_tiles.cuh"
#include "ops/check.h"
#include "ops/sequence_attention_kernels.h"
#include "rung/error.h"
#include "rung/not_done.h"

namespace rung {

namespace {

constexpr int kMostWarps = 8;

// Where the parts of a block's shared memory are, in floats. Their sizes keep all of them aligned to 16
// bytes.
template <class Element>
struct Layout {
  int pieces, pieces_stride, query_stride, weights, keys, values, floats;
  // apart: the tile's values have a place of their own, else they take that of the keys.
  __host__ __device__ Layout(int head_dim, int group, bool apart)
      : pieces((head_dim + kPieceElements<Element> - 1) / kPieceElements<Element>),
        pieces_stride(padded_pieces(pieces)),
        query_stride(pieces * kPieceElements<Element>),
        weights(group * query_stride),
        keys(weights + group * kTileKeys),
        values(apart ? keys + kTileKeys * pieces_stride * 4 : keys),
        floats(values + kTileKeys * pieces_stride * 4) {}
};

// Grid: tiles of keys, kv_heads; a warp for each query head that reads the tile, kMostWarps at most. states
// [tiles, heads], sums [tiles, heads, head_dim]. kColumns: head_dim / 64, rounded up; a lane sums 2 columns
// in every 64.
template <class Element, int kColumns>
__global__ void decode_tiles_kernel(SoftmaxState* states, float* sums, const float* q, const Element* k,
                                    const Element* v, SequenceAttentionShape shape, float scale,
                                    DeviceSequences sequences, bool apart) {
  extern __shared__ __align__(16) float shared[];
  constexpr int kElements = kPieceElements<Element>;
  const int head_dim = static_cast<int>(shape.head_dim), group = shape.group();
  const int warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp, warps = blockDim.x / kWarp;
  const Layout<Element> layout(head_dim, group, apart);
  float *queries = shared, *weights = shared + layout.weights;
  auto* keys = reinterpret_cast<Piece<Element>*>(shared + layout.keys);
  auto* values = reinterpret_cast<Piece<Element>*>(shared + layout.values);

  const int tile = blockIdx.x, sequence = sequence_of_tile(sequences.key_tile_begin, sequences.count, tile);
  const int64_t begin = static_cast<int64_t>(tile - sequences.key_tile_begin[sequence]) * kTileKeys;
  const int count = min(static_cast<int64_t>(kTileKeys), sequences.context[sequence] - begin);  // of keys
  const int first_head = blockIdx.y * group;
  const int64_t kv_offset = static_cast<int64_t>(blockIdx.y) * head_dim;
  const float* query = q + sequences.query_begin[sequence] * shape.query_stride() + first_head * head_dim;

  const auto load = [&](Piece<Element>* to, const Element* from) {
    load_tile(to, layout.pieces_stride, layout.pieces, from + kv_offset, sequences, sequence, begin, count,
              shape.kv_stride(), head_dim, threadIdx.x, blockDim.x);
    __pipeline_commit();
  };
  load(keys, k);
  if (apart) load(values, v);
  for (int h = warp; h < group; h += warps) {
    for (int d = lane; d < layout.query_stride; d += kWarp)
      queries[h * layout.query_stride + d] = d < head_dim ? query[h * head_dim + d] : 0.0f;
  }
  __pipeline_wait_prior(apart ? 1 : 0);  // the values may still be on their way
  __syncthreads();

  // BEGIN SOLUTION 16.5
  for (int h = warp; h < group; h += warps) {  // a lane has keys lane and lane + 32
    float first = 0, second = 0;
    for (int piece = 0; piece < layout.pieces; ++piece) {
      const Piece<Element> near = keys[lane * layout.pieces_stride + piece],
                           far = keys[(lane + kWarp) * layout.pieces_stride + piece];
      for (int part = 0; part < kElements; part += 4) {
        const auto four = load_vector<4>(queries + h * layout.query_stride + piece * kElements + part);
        for (int i = 0; i < 4; ++i) {
          first = __fmaf_rn(four.elements[i], to_float(near.elements[part + i]), first);
          second = __fmaf_rn(four.elements[i], to_float(far.elements[part + i]), second);
        }
      }
    }
    first = lane < count ? __fmul_rn(first, scale) : -INFINITY;
    second = lane + kWarp < count ? __fmul_rn(second, scale) : -INFINITY;
    const SoftmaxState state = softmax_of_tile(first, second);
    weights[h * kTileKeys + lane] = first;
    weights[h * kTileKeys + lane + kWarp] = second;
    if (lane == 0) states[tile * shape.heads + first_head + h] = state;
  }
  if (!apart) {
    __syncthreads();  // the keys have been read
    load(values, v);
  }
  __pipeline_wait_prior(0);
  __syncthreads();  // the values are there, and the weights

  for (int h = warp; h < group; h += warps) {  // a lane has columns 2 lane and 2 lane + 1 of every 64
    float total[kColumns * 2] = {};
    for (int first = 0; first < count; first += 4) {
      const auto weight = load_vector<4>(weights + h * kTileKeys + first);
      for (int i = 0; i < 4; ++i) {
        const auto* value = reinterpret_cast<const Element*>(values + (first + i) * layout.pieces_stride);
        for (int c = 0; c < kColumns; ++c) {
          const auto columns = load_vector<2>(value + min(64 * c + 2 * lane, layout.query_stride - 2));
          total[2 * c] = __fmaf_rn(weight.elements[i], to_float(columns.elements[0]), total[2 * c]);
          total[2 * c + 1] = __fmaf_rn(weight.elements[i], to_float(columns.elements[1]), total[2 * c + 1]);
        }
      }
    }
    float* to = sums + (tile * shape.heads + first_head + h) * head_dim;
    for (int c = 0; c < kColumns * 2; ++c) {
      const int d = c / 2 * 64 + 2 * lane + c % 2;
      if (d < head_dim) to[d] = total[c];
    }
  }
  // STUB: (void)states, (void)sums, (void)scale, (void)weights, (void)kElements;
  // STUB: RUNG_NOT_DONE("16.5");
  // END SOLUTION
}

// Grid: heads, sequences; one thread a column of y. Merges the tiles of each sequence that has one query.
__global__ void merge_tiles_kernel(float* y, const SoftmaxState* states, const float* sums,
                                   SequenceAttentionShape shape, DeviceSequences sequences) {
  const int sequence = blockIdx.y, d = threadIdx.x;
  const int64_t head = blockIdx.x;
  if (sequences.queries(sequence) != 1 || d >= shape.head_dim) return;
  // BEGIN SOLUTION 16.4
  SoftmaxState state;
  float total = 0;
  const int end = sequences.key_tile_begin[sequence + 1];
#pragma unroll 4
  for (int64_t tile = sequences.key_tile_begin[sequence]; tile < end; ++tile) {
    const int64_t row = tile * shape.heads + head;
    const MergeFactors factors = merge_states(state, states[row]);
    total = merge_values(total, sums[row * shape.head_dim + d], factors);
  }
  y[sequences.query_begin[sequence] * shape.query_stride() + head * shape.head_dim + d] =
      sequences.context[sequence] < 1 ? 0.0f : __fdiv_rn(total, state.sum);
  // STUB: (void)head, (void)y, (void)states, (void)sums;
  // STUB: RUNG_NOT_DONE("16.4");
  // END SOLUTION
}

template <class Element, int kColumns>
void launch(Cuda& device, SoftmaxState* states, float* sums, const Tensor& q, const Element* k,
            const Element* v, const SequenceAttentionShape& shape, const AttentionSequences& sequences) {
  const auto bytes_of = [&](bool apart) {
    const Layout<Element> layout(static_cast<int>(shape.head_dim), shape.group(), apart);
    return static_cast<size_t>(layout.floats) * sizeof(float);
  };
  const bool apart = bytes_of(true) <= device.properties().sharedMemPerBlock;
  const size_t bytes = bytes_of(apart), most = device.properties().sharedMemPerBlockOptin;
  if (bytes > most) {
    fail("attention: ", shape.group(), " heads of ", shape.head_dim, " on one need ", bytes,
         " bytes of shared memory, a block has at most ", most);
  }
  if (bytes > device.properties().sharedMemPerBlock) {
    RUNG_CUDA_CHECK(cudaFuncSetAttribute(decode_tiles_kernel<Element, kColumns>,
                                         cudaFuncAttributeMaxDynamicSharedMemorySize,
                                         static_cast<int>(bytes)));
  }
  const dim3 grid(static_cast<unsigned>(sequences.key_tiles), static_cast<unsigned>(shape.kv_heads));
  const unsigned warps = static_cast<unsigned>(std::min(shape.group(), kMostWarps));
  decode_tiles_kernel<Element, kColumns><<<grid, warps * kWarp, bytes, device.stream()>>>(
      states, sums, q.data<float>(), k, v, shape, shape.scale(), DeviceSequences(sequences), apart);
  RUNG_CUDA_CHECK_LAUNCH("attention_decode_split");
}

void launch_merge(Cuda& device, Tensor& y, const SoftmaxState* states, const float* sums,
                  const SequenceAttentionShape& shape, const AttentionSequences& sequences) {
  const dim3 grid(static_cast<unsigned>(shape.heads), static_cast<unsigned>(sequences.count()));
  merge_tiles_kernel<<<grid, static_cast<unsigned>((shape.head_dim + kWarp - 1) / kWarp * kWarp), 0,
                       device.stream()>>>(y.data<float>(), states, sums, shape, DeviceSequences(sequences));
  RUNG_CUDA_CHECK_LAUNCH("attention merge of tiles");
}

}  // namespace

void attention_merge_tiles(Cuda& device, Tensor& y, const Tensor& states, const Tensor& sums,
                           const AttentionSequences& sequences) {
  const int64_t tokens = y.shape()[0], heads = y.shape()[1], head_dim = y.shape()[2];
  check_operand("attention: y", y, DType::f32, y.shape(), Place::device);
  check_operand("attention: states", states, DType::f32, {sequences.key_tiles, heads, 2}, Place::device);
  check_operand("attention: sums", sums, DType::f32, {sequences.key_tiles, heads, head_dim}, Place::device);
  static_assert(sizeof(SoftmaxState) == 2 * sizeof(float));
  launch_merge(device, y, reinterpret_cast<const SoftmaxState*>(states.data<float>()), sums.data<float>(),
               {tokens, sequences.count(), heads, heads, head_dim}, sequences);
}

void attention_decode_split(Cuda& device, Tensor& y, const Tensor& q, const Tensor& k, const Tensor& v,
                            const AttentionSequences& sequences) {
  const SequenceAttentionShape shape = check_attention(y, q, k, v, sequences, Place::device);
  if (shape.head_dim > 256) fail("attention: head_dim is ", shape.head_dim, ", expected at most 256");
  if (y.elements() == 0) return;
  const size_t rows = static_cast<size_t>(sequences.key_tiles * shape.heads);
  auto* states = static_cast<SoftmaxState*>(
      device.workspace(rows * (sizeof(SoftmaxState) + static_cast<size_t>(shape.head_dim) * sizeof(float))));
  auto* sums = reinterpret_cast<float*>(states + rows);
  if (sequences.key_tiles > 0) {
    with_elements("attention: k", k, [&](auto* keys) {
      using Element = std::remove_pointer_t<decltype(keys)>;
      const auto* from = static_cast<const Element*>(v.raw());
      if (shape.head_dim <= 64)
        return launch<Element, 1>(device, states, sums, q, keys, from, shape, sequences);
      if (shape.head_dim <= 128)
        return launch<Element, 2>(device, states, sums, q, keys, from, shape, sequences);
      return launch<Element, 4>(device, states, sums, q, keys, from, shape, sequences);
    });
  }
  launch_merge(device, y, states, sums, shape, sequences);
}

}  // namespace rung
