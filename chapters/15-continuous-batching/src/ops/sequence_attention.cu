// Attention of several sequences on CUDA: one launch, a block a query and head, whichever sequence it is of.
#include "ops/sequence_attention.h"

#include <algorithm>

#include "ops/attention.h"
#include "ops/elements.cuh"
#include "ops/sequence_attention_shape.h"
#include "ops/softmax_rows.cuh"
#include "rung/not_done.h"

namespace rung {

namespace {

constexpr int kWarp = 32;

struct SequencesOnDevice {
  const int32_t *query_begin, *context, *first_row;
  int64_t count;
};

// The sequence that a query is of: the last one that begins at or before it.
__device__ int64_t sequence_of(const SequencesOnDevice& sequences, int64_t token) {
  int64_t first = 0, behind = sequences.count;  // it is in [first, behind)
  while (behind - first > 1) {
    const int64_t middle = (first + behind) / 2;
    (sequences.query_begin[middle] <= token ? first : behind) = middle;
  }
  return first;
}

// Grid: heads, queries from first_token on; one block a query and head. blockDim.x is a multiple of 32 and at
// least head_dim. Shared memory: query [head_dim], sums [blockDim.x], partial [32], and scores [row_scores]
// unless global_scores [gridDim.y, heads, row_scores] has space for them. row_scores is the longest context.
template <class Element>
__global__ void sequences_kernel(float* y, const float* q, const Element* k, const Element* v,
                                 SequencesOnDevice sequences, SequenceAttentionShape shape, float scale,
                                 int64_t first_token, float* global_scores, int64_t row_scores) {
  extern __shared__ float shared[];
  // BEGIN SOLUTION 14.3
  float *query = shared, *sums = query + shape.head_dim, *partial = sums + blockDim.x;
  const int64_t head = blockIdx.x, token = first_token + blockIdx.y;
  float* scores = global_scores == nullptr
                      ? partial + kWarp
                      : global_scores + (static_cast<int64_t>(blockIdx.y) * shape.heads + head) * row_scores;
  const int64_t s = sequence_of(sequences, token);
  const int64_t keys = sequences.context[s] - (sequences.query_begin[s + 1] - 1 - token);
  const int64_t row = token * shape.query_stride() + head * shape.head_dim;
  if (keys <= 0) {  // padding; the whole block leaves
    for (int64_t d = threadIdx.x; d < shape.head_dim; d += blockDim.x) y[row + d] = 0;
    return;
  }
  const int64_t kv_offset =
      sequences.first_row[s] * shape.kv_stride() + head / shape.group() * shape.head_dim;
  const int warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp, warps = blockDim.x / kWarp;
  for (int64_t d = threadIdx.x; d < shape.head_dim; d += blockDim.x) query[d] = q[row + d];
  __syncthreads();

  // A warp takes a key: its lanes read neighbouring elements and add up their products.
#pragma unroll 4
  for (int64_t key = warp; key < keys; key += warps) {
    const Element* key_row = k + kv_offset + key * shape.kv_stride();
    float sum = 0;
    for (int64_t d = lane; d < shape.head_dim; d += kWarp) sum += query[d] * to_float(key_row[d]);
    for (int offset = kWarp / 2; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    if (lane == 0) scores[key] = sum * scale;
  }
  __syncthreads();
  const float total = softmax_numerators_of_block(scores, keys, partial);

  // The block's threads form `parts` rows of head_dim: part p adds keys p, p + parts …, then the parts are
  // added up.
  const int64_t parts = blockDim.x / shape.head_dim, part = threadIdx.x / shape.head_dim;
  const int64_t d = threadIdx.x % shape.head_dim;
  if (part < parts) {
    float sum = 0;
#pragma unroll 8
    for (int64_t key = part; key < keys; key += parts) {
      sum += scores[key] * to_float(v[kv_offset + key * shape.kv_stride() + d]);
    }
    sums[threadIdx.x] = sum;
  }
  __syncthreads();
  if (part == 0) {
    float sum = 0;
    for (int64_t p = 0; p < parts; ++p) sum += sums[p * shape.head_dim + d];
    y[row + d] = sum / total;
  }
  // STUB: RUNG_NOT_DONE("14.3");
  // END SOLUTION
}

constexpr size_t kScratchBytes = size_t{64} << 20;  // of scores that no block's shared memory holds

void run(Cuda& device, Tensor& y, const Tensor& q, const Tensor& k, const Tensor& v,
         const AttentionSequences& sequences, const SequenceAttentionShape& shape) {
  constexpr int kMostThreads = 1024;
  if (shape.head_dim > kMostThreads)
    fail("attention: head_dim is ", shape.head_dim, ", expected at most ", kMostThreads);
  const int threads = std::max<int>(256, static_cast<int>((shape.head_dim + kWarp - 1) / kWarp * kWarp));
  const int64_t row_scores = std::max<int64_t>(sequences.most_context(), 1);
  const size_t without_scores = static_cast<size_t>(shape.head_dim + threads + kWarp) * sizeof(float);
  const size_t with_scores = without_scores + static_cast<size_t>(row_scores) * sizeof(float);
  const bool in_shared = with_scores <= device.properties().sharedMemPerBlockOptin;
  const size_t bytes = in_shared ? with_scores : without_scores;
  int64_t most = 65535;  // tokens of a launch: a grid's second dimension
  float* scores = nullptr;
  if (!in_shared) {
    const size_t bytes_of_token = static_cast<size_t>(shape.heads * row_scores) * sizeof(float);
    most = std::clamp<int64_t>(static_cast<int64_t>(kScratchBytes / bytes_of_token), 1,
                               std::min<int64_t>(most, shape.tokens));
    scores = static_cast<float*>(device.workspace(static_cast<size_t>(most) * bytes_of_token));
  }
  const SequencesOnDevice on_device{sequences.query_begin.data<int32_t>(), sequences.context.data<int32_t>(),
                                    sequences.first_row.data<int32_t>(), shape.sequences};
  with_elements("attention: k", k, [&](auto* keys) {
    using Element = std::remove_pointer_t<decltype(keys)>;
    if (bytes > device.properties().sharedMemPerBlock) {
      RUNG_CUDA_CHECK(cudaFuncSetAttribute(
          sequences_kernel<Element>, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
    }
    for (int64_t first = 0; first < shape.tokens; first += most) {
      const dim3 grid(static_cast<unsigned>(shape.heads),
                      static_cast<unsigned>(std::min(most, shape.tokens - first)));
      sequences_kernel<Element><<<grid, threads, bytes, device.stream()>>>(
          y.data<float>(), q.data<float>(), keys, static_cast<const Element*>(v.raw()), on_device, shape,
          shape.scale(), first, scores, row_scores);
      RUNG_CUDA_CHECK_LAUNCH("attention of sequences");
    }
  });
}

}  // namespace

void attention(Cuda& device, Tensor& y, const Tensor& q, const Tensor& k, const Tensor& v,
               const AttentionSequences& sequences) {
  const SequenceAttentionShape shape = check_attention(y, q, k, v, sequences, Place::device);
  if (y.elements() == 0) return;
  // One sequence alone may have matrix products, which are faster where it has many queries.
  if (!kCudaEmulated && !device.batch_invariant && shape.sequences == 1 &&
      sequences.host_context[0] >= shape.tokens) {
    const int64_t first = sequences.host_first_row[0], context = sequences.host_context[0];
    attention(device, y, q, k.slice(first, context), v.slice(first, context));
  } else {
    run(device, y, q, k, v, sequences, shape);
  }
}

}  // namespace rung
