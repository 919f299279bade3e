// A device function with shared memory in a header, for the tests of the translator.
#pragma once

#include <cuda_runtime.h>

namespace simt_tests {

/// The block's sum of `value`, for blocks of whole warps; every thread gets it.
template <class T>
__device__ T block_sum(T value) {
  __shared__ T partial[32];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  for (int offset = 16; offset > 0; offset /= 2)
    value += __shfl_down_sync(0xffffffffu, value, static_cast<unsigned>(offset));
  if (lane == 0) partial[warp] = value;
  __syncthreads();
  T total = 0;
  for (unsigned i = 0; i < warps; ++i) total += partial[i];
  __syncthreads();
  return total;
}

}  // namespace simt_tests
