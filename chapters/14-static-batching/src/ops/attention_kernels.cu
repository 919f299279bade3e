// Attention on CUDA in three kernels, and fused into one.
#include "ops/attention_kernels.h"

#include <algorithm>

#include "ops/attention_shape.h"
#include "ops/check.h"
#include "ops/elements.cuh"
#include "ops/softmax_rows.cuh"
#include "rung/error.h"
#include "rung/not_done.h"

namespace rung {

namespace {

constexpr int kWarp = 32;

// Grid: keys in blocks of blockDim.x, heads, tokens; one thread a score. scores [tokens, heads, context]; q
// starts at the first of the tokens, which sees first_keys keys.
template <class Element>
__global__ void scores_kernel(float* scores, const float* q, const Element* k, AttentionShape shape,
                              int64_t first_keys, float scale) {
  // BEGIN SOLUTION 09.1
  const int64_t key = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x, head = blockIdx.y,
                token = blockIdx.z;
  if (key >= shape.context) return;
  const float* query = q + token * shape.query_stride() + head * shape.head_dim;
  const Element* row = k + key * shape.kv_stride() + head / shape.group() * shape.head_dim;
  float sum = 0;
  for (int64_t d = 0; d < shape.head_dim; ++d) sum += query[d] * to_float(row[d]);
  const bool visible = key < first_keys + token;
  scores[(token * shape.heads + head) * shape.context + key] = visible ? sum * scale : -INFINITY;
  // STUB: RUNG_NOT_DONE("09.1");
  // END SOLUTION
}

// Grid: one block a row; its scores become probabilities. scores [rows, columns]; threads a multiple of 32.
__global__ void softmax_kernel(float* scores, int64_t columns) {
  // BEGIN SOLUTION 09.2
  __shared__ float partial[kWarp];
  float* row = scores + static_cast<int64_t>(blockIdx.x) * columns;
  const float sum = softmax_numerators_of_block(row, columns, partial);
  for (int64_t j = threadIdx.x; j < columns; j += blockDim.x) row[j] /= sum;
  // STUB: RUNG_NOT_DONE("09.2");
  // END SOLUTION
}

// Grid: heads, tokens; one thread a column of y. weights [tokens, heads, context].
template <class Element>
__global__ void weighted_sum_kernel(float* y, const float* weights, const Element* v, AttentionShape shape,
                                    int64_t first_keys) {
  // BEGIN SOLUTION 09.3
  const int64_t head = blockIdx.x, token = blockIdx.y, d = threadIdx.x;
  if (d >= shape.head_dim) return;
  const float* row = weights + (token * shape.heads + head) * shape.context;
  const Element* values = v + head / shape.group() * shape.head_dim + d;
  float sum = 0;
  for (int64_t key = 0; key < first_keys + token; ++key)
    sum += row[key] * to_float(values[key * shape.kv_stride()]);
  y[token * shape.query_stride() + head * shape.head_dim + d] = sum;
  // STUB: RUNG_NOT_DONE("09.3");
  // END SOLUTION
}

// Grid: heads, tokens; one block a query row. Shared memory: scores [context], query [head_dim], sums
// [blockDim.x], partial [32]. blockDim.x is a multiple of 32 and at least head_dim.
template <class Element>
__global__ void fused_kernel(float* y, const float* q, const Element* k, const Element* v,
                             AttentionShape shape, float scale) {
  extern __shared__ float shared[];
  // BEGIN SOLUTION 09.4
  float *scores = shared, *query = scores + shape.context, *sums = query + shape.head_dim,
        *partial = sums + blockDim.x;
  const int64_t head = blockIdx.x, token = blockIdx.y, keys = shape.keys_of(token);
  const int64_t row = token * shape.query_stride() + head * shape.head_dim;
  const int64_t kv_head = head / shape.group() * shape.head_dim;
  const int warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp, warps = blockDim.x / kWarp;
  for (int64_t d = threadIdx.x; d < shape.head_dim; d += blockDim.x) query[d] = q[row + d];
  __syncthreads();

  // A warp takes a key: its lanes read neighbouring elements and add up their products.
#pragma unroll 4
  for (int64_t key = warp; key < keys; key += warps) {
    const Element* key_row = k + key * shape.kv_stride() + kv_head;
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
      sum += scores[key] * to_float(v[key * shape.kv_stride() + kv_head + d]);
    }
    sums[threadIdx.x] = sum;
  }
  __syncthreads();
  if (part == 0) {
    float sum = 0;
    for (int64_t p = 0; p < parts; ++p) sum += sums[p * shape.head_dim + d];
    y[row + d] = sum / total;
  }
  // STUB: RUNG_NOT_DONE("09.4");
  // END SOLUTION
}

size_t shared_bytes(int64_t context, int64_t head_dim, int threads) {
  return static_cast<size_t>(context + head_dim + threads + kWarp) * sizeof(float);
}

int whole_warps(int64_t threads) {
  return static_cast<int>((threads + kWarp - 1) / kWarp * kWarp);
}

constexpr int kMostThreads = 1024;

// Some of the queries: those of `tokens` tokens from `first` on, the first of which sees first_keys keys.
struct Queries {
  int64_t first;
  unsigned tokens;
  int64_t first_keys;
};

Queries all_of(const AttentionShape& shape) {
  return {0, static_cast<unsigned>(shape.tokens), shape.keys_of(0)};
}

template <class Element>
void launch_scores(Cuda& device, float* scores, const Tensor& q, const Element* k,
                   const AttentionShape& shape, const Queries& queries) {
  constexpr int kThreads = 128;
  const dim3 grid(static_cast<unsigned>((shape.context + kThreads - 1) / kThreads),
                  static_cast<unsigned>(shape.heads), queries.tokens);
  scores_kernel<<<grid, kThreads, 0, device.stream()>>>(
      scores, q.data<float>() + queries.first * shape.query_stride(), k, shape, queries.first_keys,
      shape.scale());
  RUNG_CUDA_CHECK_LAUNCH("attention scores");
}

void launch_softmax(Cuda& device, float* scores, int64_t rows, int64_t columns) {
  softmax_kernel<<<static_cast<unsigned>(rows), 128, 0, device.stream()>>>(scores, columns);
  RUNG_CUDA_CHECK_LAUNCH("attention softmax");
}

template <class Element>
void launch_weighted_sum(Cuda& device, Tensor& y, const float* weights, const Element* v,
                         const AttentionShape& shape, const Queries& queries) {
  if (shape.head_dim > kMostThreads)
    fail("attention: head_dim is ", shape.head_dim, ", expected at most ", kMostThreads);
  const dim3 grid(static_cast<unsigned>(shape.heads), queries.tokens);
  weighted_sum_kernel<<<grid, whole_warps(shape.head_dim), 0, device.stream()>>>(
      y.data<float>() + queries.first * shape.query_stride(), weights, v, shape, queries.first_keys);
  RUNG_CUDA_CHECK_LAUNCH("attention weighted sum");
}

}  // namespace

void attention_scores(Cuda& device, Tensor& scores, const Tensor& q, const Tensor& k) {
  const AttentionShape shape = check_attention(q, q, k, k, Place::device);
  check_operand("attention: scores", scores, DType::f32, {shape.tokens, shape.heads, shape.context},
                Place::device);
  with_elements("attention: k", k, [&](auto* keys) {
    launch_scores(device, scores.data<float>(), q, keys, shape, all_of(shape));
  });
}

void attention_softmax(Cuda& device, Tensor& scores) {
  check_operand("attention: scores", scores, DType::f32, scores.shape(), Place::device);
  const int64_t columns = scores.shape().columns();
  launch_softmax(device, scores.data<float>(), scores.elements() / columns, columns);
}

void attention_weighted_sum(Cuda& device, Tensor& y, const Tensor& weights, const Tensor& v) {
  const AttentionShape shape = check_attention(y, y, v, v, Place::device);
  check_operand("attention: weights", weights, DType::f32, {shape.tokens, shape.heads, shape.context},
                Place::device);
  with_elements("attention: v", v, [&](auto* values) {
    launch_weighted_sum(device, y, weights.data<float>(), values, shape, all_of(shape));
  });
}

bool attention_fits_in_shared_memory(const Cuda& device, int64_t context, int64_t head_dim) {
  return shared_bytes(context, head_dim, kMostThreads) <= device.properties().sharedMemPerBlockOptin;
}

void attention_three_kernels(Cuda& device, Tensor& y, const Tensor& q, const Tensor& k, const Tensor& v,
                             size_t scratch_bytes) {
  const AttentionShape shape = check_attention(y, q, k, v, Place::device);
  if (y.elements() == 0) return;
  const size_t bytes_of_token = static_cast<size_t>(shape.heads * shape.context) * sizeof(float);
  const int64_t most = std::clamp<int64_t>(static_cast<int64_t>(scratch_bytes / bytes_of_token), 1,
                                           std::min<int64_t>(shape.tokens, 65535));
  auto* scores = static_cast<float*>(device.workspace(static_cast<size_t>(most) * bytes_of_token));
  with_elements("attention: k", k, [&](auto* keys) {
    const auto* values = static_cast<decltype(keys)>(v.raw());
    for (int64_t first = 0; first < shape.tokens; first += most) {
      const Queries queries{first, static_cast<unsigned>(std::min(most, shape.tokens - first)),
                            shape.keys_of(first)};
      launch_scores(device, scores, q, keys, shape, queries);
      launch_softmax(device, scores, queries.tokens * shape.heads, shape.context);
      launch_weighted_sum(device, y, scores, values, shape, queries);
    }
  });
}

void attention_fused(Cuda& device, Tensor& y, const Tensor& q, const Tensor& k, const Tensor& v,
                     int threads) {
  const AttentionShape shape = check_attention(y, q, k, v, Place::device);
  if (y.elements() == 0) return;
  if (threads % kWarp != 0 || threads < shape.head_dim || threads > kMostThreads) {
    fail("attention_fused: ", threads, " threads cannot serve a head_dim of ", shape.head_dim);
  }
  const size_t bytes = shared_bytes(shape.context, shape.head_dim, threads);
  if (bytes > device.properties().sharedMemPerBlockOptin) {
    fail("attention_fused: a context of ", shape.context, " needs ", bytes,
         " bytes of shared memory, a block has at most ", device.properties().sharedMemPerBlockOptin);
  }
  constexpr int64_t kMostTokens = 65535;  // of a grid's second dimension
  with_elements("attention: k", k, [&](auto* keys) {
    using Element = std::remove_pointer_t<decltype(keys)>;
    if (bytes > device.properties().sharedMemPerBlock) {
      RUNG_CUDA_CHECK(cudaFuncSetAttribute(fused_kernel<Element>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                           static_cast<int>(bytes)));
    }
    for (int64_t first = 0; first < shape.tokens; first += kMostTokens) {
      // These tokens as the last of the context that ends with them.
      AttentionShape part = shape;
      part.tokens = std::min(kMostTokens, shape.tokens - first);
      part.context = shape.context - shape.tokens + first + part.tokens;
      const int64_t offset = first * shape.query_stride();
      const dim3 grid(static_cast<unsigned>(shape.heads), static_cast<unsigned>(part.tokens));
      fused_kernel<Element><<<grid, threads, bytes, device.stream()>>>(
          y.data<float>() + offset, q.data<float>() + offset, keys, static_cast<const Element*>(v.raw()),
          part, shape.scale());
      RUNG_CUDA_CHECK_LAUNCH("attention_fused");
    }
  });
}

}  // namespace rung
