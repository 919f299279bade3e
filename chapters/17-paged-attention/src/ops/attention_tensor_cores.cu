// Prefill attention on CUDA with the products on tensor cores: a warp for some queries, 64 keys at a time.
#include <mma.h>

#include "ops/attention_tiles.cuh"
#include "ops/sequence_attention_kernels.h"
#include "rung/error.h"

namespace rung {

namespace {

namespace wmma = nvcuda::wmma;

constexpr int kWarps = 4;
constexpr int kThreads = kWarps * kWarp;
constexpr int kFragment = 16;          // rows and columns of a fragment
constexpr int kScoresStride = 64 + 4;  // floats between rows of scores in shared memory
constexpr float kLog2E = 1.4426950408889634f;

// What depends on the head's size alone. A warp has 16 or 32 queries; the sums of larger heads fill the
// registers with 16 already. Strides count elements; 8 more than a row's elements shift the banks.
template <int kHeadDim>
struct Shape {
  static constexpr int kParts = kHeadDim <= 96 ? 2 : 1;  // fragments of rows of a warp
  static constexpr int kRows = kParts * kFragment;
  static constexpr int kQueries = kWarps * kRows;
  static constexpr int kBlocksOfTile = kTileQueries / kQueries;
  static constexpr int kStride = kHeadDim + 8;
  static constexpr int kPieces = kHeadDim / 8, kPiecesStride = kStride / 8;
  // bytes of shared memory
  static constexpr int kQueryBytes = kQueries * kStride * 2, kTileBytes = kTileKeys * kStride * 2;
  static constexpr int kScoresBytes = kRows * kScoresStride * 4;  // of a warp
  static constexpr int kFactorsBytes = kQueries * 4;
  static constexpr int kBytes = kQueryBytes + 2 * kTileBytes + kWarps * kScoresBytes + kFactorsBytes;
};

// Grid: heads, Shape::kBlocksOfTile blocks for each tile of queries; kThreads threads.
template <class Element, int kHeadDim>
__global__ void __launch_bounds__(kThreads, kHeadDim == 64 ? 3 : 1)
    tensor_cores_kernel(float* y, const float* q, const Element* k, const Element* v,
                        SequenceAttentionShape shape, float scale, DeviceSequences sequences) {
  using S = Shape<kHeadDim>;
  extern __shared__ __align__(128) unsigned char shared[];
  auto* queries = reinterpret_cast<Element*>(shared);
  auto* keys = reinterpret_cast<Element*>(shared + S::kQueryBytes);
  auto* values = reinterpret_cast<Element*>(shared + S::kQueryBytes + S::kTileBytes);
  unsigned char* behind = shared + S::kQueryBytes + 2 * S::kTileBytes;
  const int warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
  auto* scores = reinterpret_cast<float*>(behind + warp * S::kScoresBytes);
  auto* weights = reinterpret_cast<Element*>(scores);  // a row's weights take the place of its scores
  constexpr int kWeightsStride = 2 * kScoresStride;
  float* factors = reinterpret_cast<float*>(behind + kWarps * S::kScoresBytes) + warp * S::kRows;

  // The last tiles have most keys: they go first.
  const int block = gridDim.y - 1 - blockIdx.y, tile = block / S::kBlocksOfTile;
  const int sequence = sequence_of_tile(sequences.query_tile_begin, sequences.count, tile);
  const int first_query =
      (tile - sequences.query_tile_begin[sequence]) * kTileQueries + block % S::kBlocksOfTile * S::kQueries;
  const int count = sequences.queries(sequence) - first_query;  // valid queries of this block
  if (count <= 0) return;
  const int head = blockIdx.x;
  const int64_t kv_offset = static_cast<int64_t>(head / shape.group()) * kHeadDim;
  const int64_t query_row =
      (sequences.query_begin[sequence] + first_query) * shape.query_stride() + head * kHeadDim;
  const int first_keys = sequences.context[sequence] - sequences.queries(sequence) + first_query + 1;
  const int most_keys = first_keys + min(count, S::kQueries) - 1;

  for (int i = threadIdx.x; i < S::kQueries * kHeadDim; i += kThreads) {
    const int row = i / kHeadDim, d = i % kHeadDim;
    store_rounded(queries[row * S::kStride + d],
                  row < count ? q[query_row + row * shape.query_stride() + d] : 0.0f);
  }
  // Which row of its tile a fragment's element belongs to is the hardware's secret: a fragment that is loaded
  // from a matrix of row numbers tells.
  using Sums = wmma::fragment<wmma::accumulator, kFragment, kFragment, kFragment, float>;
  for (int i = lane; i < kFragment * kFragment; i += kWarp)
    scores[i / kFragment * kScoresStride + i % kFragment] = static_cast<float>(i / kFragment);
  __syncwarp();
  Sums row_numbers;
  wmma::load_matrix_sync(row_numbers, scores, kScoresStride, wmma::mem_row_major);
  int row_of[Sums::num_elements];
  for (int e = 0; e < Sums::num_elements; ++e) row_of[e] = static_cast<int>(row_numbers.x[e]);

  // A row is looked after by one lane, or by two with half the keys each.
  constexpr int kLanesOfRow = kWarp / S::kRows, kKeysOfLane = kTileKeys / kLanesOfRow;
  const int row = lane % S::kRows, first_key = lane / S::kRows * kKeysOfLane;
  const int row_keys = first_keys + warp * S::kRows + row;  // that the lane's row sees
  SoftmaxState state;
  Sums totals[S::kParts][kHeadDim / kFragment];
  for (auto& part : totals) {
    for (auto& fragment : part) wmma::fill_fragment(fragment, 0.0f);
  }

  // A tile's keys come in while the values before are multiplied, its values while the scores are computed.
  const auto load = [&](Element* to, const Element* from, int begin) {
    if (begin < most_keys) {
      load_tile(reinterpret_cast<Piece<Element>*>(to), S::kPiecesStride, S::kPieces, from + kv_offset,
                sequences, sequence, begin, min(kTileKeys, most_keys - begin), shape.kv_stride(), kHeadDim,
                threadIdx.x, kThreads);
    }
    __pipeline_commit();  // an empty group too, so that the waits below count right
  };
  load(keys, k, 0);
  load(values, v, 0);
  for (int begin = 0; begin < most_keys; begin += kTileKeys) {
    __pipeline_wait_prior(1);
    __syncthreads();  // the keys are there

    {  // scores = queries times keys, transposed
      Sums products[S::kParts][kTileKeys / kFragment];
      for (auto& part : products) {
        for (auto& fragment : part) wmma::fill_fragment(fragment, 0.0f);
      }
#pragma unroll
      for (int d = 0; d < kHeadDim; d += kFragment) {
        wmma::fragment<wmma::matrix_a, kFragment, kFragment, kFragment, Element, wmma::row_major>
            a[S::kParts];
        for (int part = 0; part < S::kParts; ++part) {
          wmma::load_matrix_sync(a[part], queries + (warp * S::kRows + part * kFragment) * S::kStride + d,
                                 S::kStride);
        }
#pragma unroll
        for (int n = 0; n < kTileKeys / kFragment; ++n) {
          wmma::fragment<wmma::matrix_b, kFragment, kFragment, kFragment, Element, wmma::col_major> b;
          wmma::load_matrix_sync(b, keys + n * kFragment * S::kStride + d, S::kStride);
          for (int part = 0; part < S::kParts; ++part)
            wmma::mma_sync(products[part][n], a[part], b, products[part][n]);
        }
      }
      __syncwarp();  // the weights before have been used
      for (int part = 0; part < S::kParts; ++part) {
        for (int n = 0; n < kTileKeys / kFragment; ++n) {
          wmma::store_matrix_sync(scores + part * kFragment * kScoresStride + n * kFragment,
                                  products[part][n], kScoresStride, wmma::mem_row_major);
        }
      }
    }
    __syncwarp();

    {  // each row's softmax, by powers of two: exp(x) = 2^(x log2 e)
      float mine[kKeysOfLane], maximum = -INFINITY;
      const int seen = row_keys - begin - first_key;
#pragma unroll
      for (int j = 0; j < kKeysOfLane; j += 4) {
        const auto four = load_vector<4>(scores + row * kScoresStride + first_key + j);
        for (int i = 0; i < 4; ++i) {
          mine[j + i] = j + i < seen ? four.elements[i] : -INFINITY;
          maximum = fmaxf(maximum, mine[j + i]);
        }
      }
      for (int offset = S::kRows; offset < kWarp; offset *= 2)
        maximum = fmaxf(maximum, __shfl_xor_sync(0xffffffffu, maximum, offset));
      maximum = fmaxf(maximum, state.maximum);
      const float factor = scale * kLog2E, shift = maximum == -INFINITY ? 0 : maximum * factor;
      const float kept = exp2f(state.maximum * factor - shift);
      float sum = 0;
      __syncwarp();  // all lanes have read their scores
#pragma unroll
      for (int j = 0; j < kKeysOfLane; j += 8) {
        Piece<Element> piece;
        for (int i = 0; i < 8; ++i) {
          const float weight = exp2f(mine[j + i] * factor - shift);
          sum += weight;
          store_rounded(piece.elements[i], weight);
        }
        store_vector(weights + row * kWeightsStride + first_key + j, piece);
      }
      for (int offset = S::kRows; offset < kWarp; offset *= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, offset);
      state = {maximum, state.sum * kept + sum};
      if (lane < S::kRows) factors[row] = kept;
    }
    __pipeline_wait_prior(0);
    __syncthreads();  // the values are there, the factors too, and the keys have been used
    load(keys, k, begin + kTileKeys);

    for (int part = 0; part < S::kParts; ++part) {
      float kept[Sums::num_elements];
      for (int e = 0; e < Sums::num_elements; ++e) kept[e] = factors[part * kFragment + row_of[e]];
      for (auto& fragment : totals[part]) {
        for (int e = 0; e < Sums::num_elements; ++e) fragment.x[e] *= kept[e];
      }
    }
#pragma unroll
    for (int j = 0; j < kTileKeys; j += kFragment) {
      wmma::fragment<wmma::matrix_a, kFragment, kFragment, kFragment, Element, wmma::row_major> a[S::kParts];
      for (int part = 0; part < S::kParts; ++part)
        wmma::load_matrix_sync(a[part], weights + part * kFragment * kWeightsStride + j, kWeightsStride);
#pragma unroll
      for (int n = 0; n < kHeadDim / kFragment; ++n) {
        wmma::fragment<wmma::matrix_b, kFragment, kFragment, kFragment, Element, wmma::row_major> b;
        wmma::load_matrix_sync(b, values + j * S::kStride + n * kFragment, S::kStride);
        for (int part = 0; part < S::kParts; ++part)
          wmma::mma_sync(totals[part][n], a[part], b, totals[part][n]);
      }
    }
    __syncthreads();  // the values have been used
    load(values, v, begin + kTileKeys);
  }

  // By way of shared memory to y, 64 columns at a time, so that rows that do not exist are not written.
  __syncwarp();  // the factors of the last tile have been used
  if (lane < S::kRows) factors[row] = row_keys < 1 ? 0 : 1 / state.sum;
#pragma unroll
  for (int first = 0; first < kHeadDim; first += 64) {
    __syncwarp();
    for (int part = 0; part < S::kParts; ++part) {
#pragma unroll
      for (int n = 0; n < kHeadDim / kFragment; ++n) {
        if (n < first / kFragment || n >= (first + 64) / kFragment) continue;
        wmma::store_matrix_sync(scores + part * kFragment * kScoresStride + n * kFragment - first,
                                totals[part][n], kScoresStride, wmma::mem_row_major);
      }
    }
    __syncwarp();
    const int columns = min(kHeadDim - first, 64);
    for (int i = lane; i < S::kRows * columns; i += kWarp) {
      const int r = i / columns, d = i % columns, query = warp * S::kRows + r;
      if (query < count) {
        y[query_row + query * shape.query_stride() + first + d] = scores[r * kScoresStride + d] * factors[r];
      }
    }
  }
}

template <class Element, int kHeadDim>
void launch(Cuda& device, Tensor& y, const Tensor& q, const Element* k, const Element* v,
            const SequenceAttentionShape& shape, const AttentionSequences& sequences) {
  using S = Shape<kHeadDim>;
  RUNG_CUDA_CHECK(cudaFuncSetAttribute(tensor_cores_kernel<Element, kHeadDim>,
                                       cudaFuncAttributeMaxDynamicSharedMemorySize, S::kBytes));
  const dim3 grid(static_cast<unsigned>(shape.heads),
                  static_cast<unsigned>(sequences.query_tiles * S::kBlocksOfTile));
  tensor_cores_kernel<Element, kHeadDim><<<grid, kThreads, S::kBytes, device.stream()>>>(
      y.data<float>(), q.data<float>(), k, v, shape, shape.scale(), DeviceSequences(sequences));
  RUNG_CUDA_CHECK_LAUNCH("attention_prefill_tensor_cores");
}

template <class Element>
void run(Cuda& device, Tensor& y, const Tensor& q, const Element* k, const Element* v,
         const SequenceAttentionShape& shape, const AttentionSequences& sequences) {
  switch (shape.head_dim) {
    case 64:
      return launch<Element, 64>(device, y, q, k, v, shape, sequences);
    case 80:
      return launch<Element, 80>(device, y, q, k, v, shape, sequences);
    case 96:
      return launch<Element, 96>(device, y, q, k, v, shape, sequences);
    case 128:
      return launch<Element, 128>(device, y, q, k, v, shape, sequences);
    default:
      return launch<Element, 256>(device, y, q, k, v, shape, sequences);
  }
}

}  // namespace

bool tensor_cores_fit(const Tensor& k) {
  const int64_t head_dim = k.shape().columns();
  return (k.dtype() == DType::f16 || k.dtype() == DType::bf16) &&
         (head_dim == 64 || head_dim == 80 || head_dim == 96 || head_dim == 128 || head_dim == 256);
}

void attention_prefill_tensor_cores(Cuda& device, Tensor& y, const Tensor& q, const Tensor& k,
                                    const Tensor& v, const AttentionSequences& sequences) {
  const SequenceAttentionShape shape = check_attention(y, q, k, v, sequences, Place::device);
  if (!tensor_cores_fit(k)) {
    fail("attention: keys of ", name(k.dtype()), " and a head_dim of ", shape.head_dim,
         " do not fit the tensor cores");
  }
  if (sequences.query_tiles == 0 || y.elements() == 0) return;
  if (k.dtype() == DType::f16) {
    run(device, y, q, static_cast<const __half*>(k.raw()), static_cast<const __half*>(v.raw()), shape,
        sequences);
  } else {
    run(device, y, q, static_cast<const __nv_bfloat16*>(k.raw()), static_cast<const __nv_bfloat16*>(v.raw()),
        shape, sequences);
  }
}

}  // namespace rung
