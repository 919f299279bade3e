// RoPE on CUDA: one thread a pair, then one thread for the same pair of all heads.
#include "ops/rope.h"
#include "ops/rope_kernels.h"
#include "ops/rope_pair.h"
#include "rung/not_done.h"

namespace rung {

namespace {

constexpr int kThreads = 128;

unsigned blocks_for(int64_t threads) {
  return static_cast<unsigned>((threads + kThreads - 1) / kThreads);
}

__device__ void turn(float* head, RopePair pair, float cosine, float sine) {
  const float a = head[pair.first], b = head[pair.second];
  head[pair.first] = a * cosine - b * sine;
  head[pair.second] = b * cosine + a * sine;
}

// Both kernels: x [tokens, heads, head_dim], positions [tokens], inverse_frequency [pairs], 2 * pairs <=
// head_dim.

// Grid: enough blocks of kThreads threads for tokens * heads * pairs; neighbouring threads have neighbouring
// pairs of one head.
__global__ void one_pair_kernel(float* x, const int32_t* positions, const float* inverse_frequency,
                                int64_t tokens, int64_t heads, int64_t head_dim, int64_t pairs,
                                RopePairing pairing) {
  // BEGIN SOLUTION 08.4
  const int64_t index = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (index >= tokens * heads * pairs) return;
  const int64_t row = index / pairs, i = index % pairs, token = row / heads;
  float sine, cosine;
  sincosf(static_cast<float>(positions[token]) * inverse_frequency[i], &sine, &cosine);
  turn(x + row * head_dim, rope_pair(pairing, i, pairs), cosine, sine);
  // STUB: RUNG_NOT_DONE("08.4");
  // END SOLUTION
}

// Grid: enough blocks of kThreads threads for tokens * pairs.
__global__ void all_heads_kernel(float* x, const int32_t* positions, const float* inverse_frequency,
                                 int64_t tokens, int64_t heads, int64_t head_dim, int64_t pairs,
                                 RopePairing pairing) {
  const int64_t index = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (index >= tokens * pairs) return;
  const int64_t token = index / pairs, i = index % pairs;
  float sine, cosine;
  sincosf(static_cast<float>(positions[token]) * inverse_frequency[i], &sine, &cosine);
  const RopePair pair = rope_pair(pairing, i, pairs);
  for (int64_t head = 0; head < heads; ++head) {
    turn(x + (token * heads + head) * head_dim, pair, cosine, sine);
  }
}

}  // namespace

void rope_one_pair(Cuda& device, Tensor& x, const Tensor& positions, const Tensor& inverse_frequency,
                   RopePairing pairing) {
  check_rope(x, positions, inverse_frequency, Place::device);
  const int64_t tokens = x.shape()[0], heads = x.shape()[1], pairs = inverse_frequency.elements();
  if (tokens * heads * pairs == 0) return;
  one_pair_kernel<<<blocks_for(tokens * heads * pairs), kThreads, 0, device.stream()>>>(
      x.data<float>(), positions.data<int32_t>(), inverse_frequency.data<float>(), tokens, heads,
      x.shape()[2], pairs, pairing);
  RUNG_CUDA_CHECK_LAUNCH("rope_one_pair");
}

void rope_all_heads(Cuda& device, Tensor& x, const Tensor& positions, const Tensor& inverse_frequency,
                    RopePairing pairing) {
  check_rope(x, positions, inverse_frequency, Place::device);
  const int64_t tokens = x.shape()[0], heads = x.shape()[1], pairs = inverse_frequency.elements();
  if (tokens * heads * pairs == 0) return;
  all_heads_kernel<<<blocks_for(tokens * pairs), kThreads, 0, device.stream()>>>(
      x.data<float>(), positions.data<int32_t>(), inverse_frequency.data<float>(), tokens, heads,
      x.shape()[2], pairs, pairing);
  RUNG_CUDA_CHECK_LAUNCH("rope_all_heads");
}

void rope(Cuda& device, Tensor& x, const Tensor& positions, const Tensor& inverse_frequency,
          RopePairing pairing) {
  // A thread that serves all heads saves sines, but only many tokens give enough of such threads.
  constexpr int64_t kEnoughThreads = 8192;
  const bool many = x.shape()[0] * inverse_frequency.elements() >= kEnoughThreads;
  (many ? rope_all_heads : rope_one_pair)(device, x, positions, inverse_frequency, pairing);
}

}  // namespace rung
