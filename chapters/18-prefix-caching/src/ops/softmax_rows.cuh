// The softmax of rows of attention scores, and block-wide reductions.
#pragma once

#include "ops/elements.cuh"

namespace rung {

struct Maximum {
  static constexpr float kNothing = -INFINITY;
  __device__ static float of(float a, float b) { return fmaxf(a, b); }
};
struct Sum {
  static constexpr float kNothing = 0;
  __device__ static float of(float a, float b) { return a + b; }
};

// The reduction of every thread's value, known to all of them. All threads of the block call it; blockDim.x
// is a multiple of 32, at most 1,024; partial has room for 32 floats and may be used again right away.
template <class Operation>
__device__ float reduce_block(float value, float* partial) {
  constexpr int kWarp = 32;
  const int warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp, warps = blockDim.x / kWarp;
  for (int offset = kWarp / 2; offset > 0; offset /= 2) {
    value = Operation::of(value, __shfl_xor_sync(0xffffffffu, value, offset));
  }
  if (lane == 0) partial[warp] = value;
  __syncthreads();
  value = Operation::kNothing;
  for (int w = 0; w < warps; ++w) value = Operation::of(value, partial[w]);
  __syncthreads();  // partial has been read by all
  return value;
}

// Turns scores[0 … count) into exp(score - maximum) and returns their sum to all threads of the block. The
// scores are written before the call and a barrier follows it, so that every thread may read any of them.
__device__ inline float softmax_numerators_of_block(float* scores, int64_t count, float* partial) {
  float maximum = Maximum::kNothing;
  for (int64_t j = threadIdx.x; j < count; j += blockDim.x) maximum = fmaxf(maximum, scores[j]);
  maximum = reduce_block<Maximum>(maximum, partial);
  float sum = 0;
  for (int64_t j = threadIdx.x; j < count; j += blockDim.x) {
    scores[j] = expf(scores[j] - maximum);
    sum += scores[j];
  }
  return reduce_block<Sum>(sum, partial);
}

}  // namespace rung
