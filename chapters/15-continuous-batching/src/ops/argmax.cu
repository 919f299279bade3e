// CUDA argmax: a block a row finds each thread's best, then the best of a warp
// by shuffles, then the best of the warps.
#include <cuda_runtime.h>

#include "ops/argmax.h"
#include "ops/check.h"
#include "ops/vector.cuh"
#include "rung/error.h"
#include "rung/not_done.h"

namespace rung {

namespace {

constexpr int kThreads = 1024;
constexpr int kWarps = kThreads / 32;  // as many as a warp has lanes

struct Candidate {
  float value;
  int index;
};

// The larger value; among equals the lower index; anything before a candidate without an index.
__device__ Candidate better(Candidate a, Candidate b) {
  if (b.index < 0) return a;
  if (a.index < 0 || b.value > a.value) return b;
  return b.value == a.value && b.index < a.index ? b : a;
}

__device__ Candidate best_of_warp(Candidate candidate) {
  for (int offset = 16; offset > 0; offset /= 2) {
    const Candidate other = {__shfl_down_sync(0xffffffffu, candidate.value, offset),
                             __shfl_down_sync(0xffffffffu, candidate.index, offset)};
    candidate = better(candidate, other);
  }
  return candidate;
}

// Grid: one block of kThreads a row. logits [gridDim.x, columns]; ids [gridDim.x]. A thread loads kWidth
// columns at once: columns is a multiple of kWidth, and logits are aligned to as many floats.
template <int kWidth>
__global__ void argmax_kernel(int* ids, const float* logits, int columns) {
  __shared__ Candidate best[kWarps];
  const float* row = logits + static_cast<size_t>(blockIdx.x) * columns;
  // BEGIN SOLUTION 11.3
  Candidate mine = {0, -1};
#pragma unroll 4
  for (int c = threadIdx.x * kWidth; c < columns; c += kThreads * kWidth) {
    const auto part = load_vector<kWidth>(row + c);
    for (int i = 0; i < kWidth; ++i) {
      mine = better(mine, {part.elements[i], isnan(part.elements[i]) ? -1 : c + i});
    }
  }
  mine = best_of_warp(mine);
  if (threadIdx.x % 32 == 0) best[threadIdx.x / 32] = mine;
  __syncthreads();
  if (threadIdx.x < 32) {
    mine = best_of_warp(best[threadIdx.x]);
    if (threadIdx.x == 0) ids[blockIdx.x] = mine.index;
  }
  // STUB: (void)best, (void)row;
  // STUB: RUNG_NOT_DONE("11.3");
  // END SOLUTION
}

}  // namespace

void argmax(Cuda& device, Tensor& ids, const Tensor& logits) {
  const int64_t rows = logits.shape().rows(), columns = logits.shape().columns();
  check_operand("argmax: ids", ids, DType::i32, {rows}, Place::device);
  check_operand("argmax: logits", logits, DType::f32, logits.shape(), Place::device);
  if (columns == 0) fail("argmax: rows of no columns have no largest value");
  if (rows == 0) return;
  const auto kernel =
      columns % 4 == 0 && is_aligned<4>(logits.data<float>()) ? argmax_kernel<4> : argmax_kernel<1>;
  kernel<<<static_cast<unsigned>(rows), kThreads, 0, device.stream()>>>(
      ids.data<int32_t>(), logits.data<float>(), static_cast<int>(columns));
  RUNG_CUDA_CHECK_LAUNCH("argmax_kernel");
}

}  // namespace rung
