// Attention on CUDA: the fused kernel for few queries, matrix products by cuBLAS for many.
#include "ops/attention.h"

#include <algorithm>

#include "ops/attention_kernels.h"
#include "ops/attention_shape.h"
#include "ops/round_elements.cuh"
#include "ops/softmax_rows.cuh"

namespace rung {

namespace {

constexpr int kThreads = 128;

// Grid: tokens, heads; one block a row of scores [heads, tokens, context]. Token t sees first_keys + t keys;
// the probabilities of later ones are 0. probabilities may be scores.
template <class Element>
__global__ void causal_softmax_kernel(Element* probabilities, float* scores, int64_t context,
                                      int64_t first_keys) {
  __shared__ float partial[32];
  const int64_t token = blockIdx.x, keys = first_keys + token;
  const int64_t row = (static_cast<int64_t>(blockIdx.y) * gridDim.x + token) * context;
  const float sum = softmax_numerators_of_block(scores + row, keys, partial);
  for (int64_t j = threadIdx.x; j < context; j += blockDim.x) {
    store_rounded(probabilities[row + j], j < keys ? scores[row + j] / sum : 0.0f);
  }
}

constexpr size_t rounded_up(size_t bytes) {
  return (bytes + 255) / 256 * 256;
}

template <class Element>
constexpr cudaDataType_t kTypeOf = CUDA_R_32F;
template <>
constexpr cudaDataType_t kTypeOf<__half> = CUDA_R_16F;
template <>
constexpr cudaDataType_t kTypeOf<__nv_bfloat16> = CUDA_R_16BF;

template <class Element>
void run_cublas(Cuda& device, const AttentionShape& shape, float* y, const float* q, const Element* k,
                const Element* v, int64_t tokens_at_once) {
  constexpr bool kRounds = sizeof(Element) < sizeof(float);
  constexpr cudaDataType_t kType = kTypeOf<Element>;
  const int64_t most = std::min(tokens_at_once, shape.tokens);
  const size_t most_scores = static_cast<size_t>(shape.heads * most * shape.context);
  const size_t scores_bytes = rounded_up(most_scores * sizeof(float));
  const size_t probabilities_bytes = kRounds ? rounded_up(most_scores * sizeof(Element)) : 0;
  const size_t queries_bytes =
      kRounds ? static_cast<size_t>(most * shape.query_stride()) * sizeof(Element) : 0;
  auto* memory =
      static_cast<unsigned char*>(device.workspace(scores_bytes + probabilities_bytes + queries_bytes));
  auto* scores = reinterpret_cast<float*>(memory);
  auto* probabilities = reinterpret_cast<Element*>(memory + (kRounds ? scores_bytes : 0));
  auto* rounded_queries = reinterpret_cast<Element*>(memory + scores_bytes + probabilities_bytes);

  const auto group = shape.group();
  const int head_dim = static_cast<int>(shape.head_dim), kv_heads = static_cast<int>(shape.kv_heads);
  const int kv_stride = static_cast<int>(shape.kv_stride()),
            query_stride = static_cast<int>(shape.query_stride());
  const float scale = shape.scale(), one = 1, zero = 0;
  for (int64_t first = 0; first < shape.tokens; first += most) {
    const int64_t tokens = std::min(most, shape.tokens - first), first_keys = shape.keys_of(first);
    const int context = static_cast<int>(first_keys + tokens - 1), rows = static_cast<int>(tokens);
    const int64_t offset = first * shape.query_stride(), head_scores = tokens * context;
    const void* queries = q + offset;
    if constexpr (kRounds) {
      round_elements(device, rounded_queries, q + offset, tokens * shape.query_stride());
      queries = rounded_queries;
    }
    // One product for each place in the group, batched over the key/value heads. Row-major scores [tokens,
    // context] are column-major scores^T = k * q^T; see matmul.cu.
    for (int64_t g = 0; g < group; ++g) {
      RUNG_CUBLAS_CHECK(cublasGemmStridedBatchedEx(
          device.cublas(), CUBLAS_OP_T, CUBLAS_OP_N, context, rows, head_dim, &scale,  //
          k, kType, kv_stride, head_dim,                                               //
          static_cast<const Element*>(queries) + g * head_dim, kType, query_stride, group * head_dim, &zero,
          scores + g * head_scores, CUDA_R_32F, context, group * head_scores, kv_heads, CUBLAS_COMPUTE_32F,
          CUBLAS_GEMM_DEFAULT));
    }
    causal_softmax_kernel<<<dim3(static_cast<unsigned>(tokens), static_cast<unsigned>(shape.heads)), kThreads,
                            0, device.stream()>>>(probabilities, scores, context, first_keys);
    RUNG_CUDA_CHECK_LAUNCH("causal softmax");
    // y^T [head_dim, tokens] = v^T * probabilities^T, both of which are what column-major eyes see.
    for (int64_t g = 0; g < group; ++g) {
      RUNG_CUBLAS_CHECK(cublasGemmStridedBatchedEx(
          device.cublas(), CUBLAS_OP_N, CUBLAS_OP_N, head_dim, rows, context, &one,     //
          v, kType, kv_stride, head_dim,                                                //
          probabilities + g * head_scores, kType, context, group * head_scores, &zero,  //
          y + offset + g * head_dim, CUDA_R_32F, query_stride, group * head_dim, kv_heads, CUBLAS_COMPUTE_32F,
          CUBLAS_GEMM_DEFAULT));
    }
  }
}

// Few queries are few blocks: large ones hide the latency of memory. (The emulator has none.)
constexpr int kThreadsOfFewQueries = kCudaEmulated ? 256 : 1024;

// Whether queries are many enough that matrix products pay.
bool use_cublas(int64_t tokens) {
  // On the emulator one implementation serves any number of queries, so that a row's result does not depend
  // on its batch.
  return !kCudaEmulated && tokens >= 16;
}

}  // namespace

void attention_cublas(Cuda& device, Tensor& y, const Tensor& q, const Tensor& k, const Tensor& v,
                      int64_t tokens_at_once) {
  const AttentionShape shape = check_attention(y, q, k, v, Place::device);
  if (y.elements() == 0) return;
  with_elements("attention: k", k, [&](auto* keys) {
    run_cublas(device, shape, y.data<float>(), q.data<float>(), keys, static_cast<decltype(keys)>(v.raw()),
               tokens_at_once);
  });
}

void attention(Cuda& device, Tensor& y, const Tensor& q, const Tensor& k, const Tensor& v) {
  if (use_cublas(q.shape()[0])) {
    attention_cublas(device, y, q, k, v);
  } else if (attention_fits_in_shared_memory(device, k.shape()[0], k.shape().columns())) {
    attention_fused(device, y, q, k, v, kThreadsOfFewQueries);
  } else {
    attention_three_kernels(device, y, q, k, v);
  }
}

}  // namespace rung
