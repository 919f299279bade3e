// RMSNorm on CUDA: one thread a row, a tree in shared memory, warp shuffles, and these with vectors of four.
#include <algorithm>

#include "ops/rms_norm.h"
#include "ops/rms_norm_checks.h"
#include "ops/rms_norm_kernels.h"
#include "ops/vector.cuh"
#include "rung/not_done.h"

namespace rung {

namespace {

constexpr int kTreeThreads = 256;  // a power of two
constexpr int kMostThreads = 1024;
constexpr int kWarp = 32;
constexpr unsigned kAllLanes = 0xffffffffu;

// All kernels: x, y [rows, columns] (may be the same memory), weight [columns]. The order in which a row is
// summed depends on the number of columns alone.

__device__ float scale_of(float sum_of_squares, int64_t columns, float epsilon) {
  return 1.0f / sqrtf(sum_of_squares / static_cast<float>(columns) + epsilon);
}

// Grid: enough blocks for one thread a row.
__global__ void one_thread_kernel(float* y, const float* x, const float* weight, int64_t rows,
                                  int64_t columns, float epsilon) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  x += row * columns;
  y += row * columns;
  float sum = 0;
  for (int64_t c = 0; c < columns; ++c) sum += x[c] * x[c];
  const float scale = scale_of(sum, columns, epsilon);
  for (int64_t c = 0; c < columns; ++c) y[c] = x[c] * scale * weight[c];
}

// Grid: one block of kTreeThreads threads a row. Thread t sums columns t, t + 256, …; then half of the
// threads add the sums of the other half, and so on until one is left.
__global__ void shared_tree_kernel(float* y, const float* x, const float* weight, int64_t columns,
                                   float epsilon) {
  __shared__ float sums[kTreeThreads];
  x += blockIdx.x * columns;
  y += blockIdx.x * columns;
  // BEGIN SOLUTION 06.1
  float sum = 0;
  for (int64_t c = threadIdx.x; c < columns; c += kTreeThreads) sum += x[c] * x[c];
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned half = kTreeThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  // STUB: RUNG_NOT_DONE("06.1");
  // END SOLUTION
  const float scale = scale_of(sums[0], columns, epsilon);
  for (int64_t c = threadIdx.x; c < columns; c += kTreeThreads) y[c] = x[c] * scale * weight[c];
}

// The sum of `value` over the block's threads, in every thread. blockDim.x a multiple of 32, at most 1024;
// partial has room for one float a warp. All threads of the block must call it, once.
__device__ float block_sum(float value, float* partial) {
  // BEGIN SOLUTION 06.2
  // In each step a lane adds what the lane `offset` away holds; after five steps every lane has the warp's
  // sum.
  for (int offset = kWarp / 2; offset > 0; offset /= 2) value += __shfl_xor_sync(kAllLanes, value, offset);
  const int warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp, warps = blockDim.x / kWarp;
  if (lane == 0) partial[warp] = value;
  __syncthreads();
  value = lane < warps ? partial[lane] : 0;
  for (int offset = kWarp / 2; offset > 0; offset /= 2) value += __shfl_xor_sync(kAllLanes, value, offset);
  return value;
  // STUB: RUNG_NOT_DONE("06.2");
  // END SOLUTION
}

// Grid: one block of blockDim.x threads, a multiple of 32, a row. A thread moves kWidth columns at once:
// columns is a multiple of kWidth, and all pointers are aligned to kWidth floats.
template <int kWidth>
__global__ void warp_shuffles_kernel(float* y, const float* x, const float* weight, int64_t columns,
                                     float epsilon) {
  __shared__ float partial[kMostThreads / kWarp];
  x += blockIdx.x * columns;
  y += blockIdx.x * columns;
  const int64_t first = threadIdx.x * kWidth, step = blockDim.x * kWidth;
  float sum = 0;
#pragma unroll 4
  for (int64_t c = first; c < columns; c += step) {
    const auto part = load_vector<kWidth>(x + c);
    for (const float value : part.elements) sum += value * value;
  }
  const float scale = scale_of(block_sum(sum, partial), columns, epsilon);
#pragma unroll 4
  for (int64_t c = first; c < columns; c += step) {
    auto part = load_vector<kWidth>(x + c);
    const auto weights = load_vector<kWidth>(weight + c);
    for (int i = 0; i < kWidth; ++i) part.elements[i] = part.elements[i] * scale * weights.elements[i];
    store_vector(y + c, part);
  }
}

// Grid and preconditions as above. residual [rows, columns] += x first; a thread reads back only elements
// that it wrote itself.
template <int kWidth>
__global__ void add_kernel(float* y, float* residual, const float* x, const float* weight, int64_t columns,
                           float epsilon) {
  __shared__ float partial[kMostThreads / kWarp];
  x += blockIdx.x * columns;
  y += blockIdx.x * columns;
  residual += blockIdx.x * columns;
  const int64_t first = threadIdx.x * kWidth, step = blockDim.x * kWidth;
  // BEGIN SOLUTION 06.3
  float sum = 0;
  for (int64_t c = first; c < columns; c += step) {
    auto part = load_vector<kWidth>(residual + c);
    const auto added = load_vector<kWidth>(x + c);
    for (int i = 0; i < kWidth; ++i) {
      part.elements[i] += added.elements[i];
      sum += part.elements[i] * part.elements[i];
    }
    store_vector(residual + c, part);
  }
  const float scale = scale_of(block_sum(sum, partial), columns, epsilon);
  for (int64_t c = first; c < columns; c += step) {
    auto part = load_vector<kWidth>(residual + c);
    const auto weights = load_vector<kWidth>(weight + c);
    for (int i = 0; i < kWidth; ++i) part.elements[i] = part.elements[i] * scale * weights.elements[i];
    store_vector(y + c, part);
  }
  // STUB: (void)partial, (void)first, (void)step;
  // STUB: RUNG_NOT_DONE("06.3");
  // END SOLUTION
}

// About four columns a thread, in whole warps.
int threads_for(int64_t columns) {
  const int64_t warps = (columns + 4 * kWarp - 1) / (4 * kWarp);
  return static_cast<int>(std::min<int64_t>(warps * kWarp, kMostThreads));
}

}  // namespace

void rms_norm_one_thread(Cuda& device, Tensor& y, const Tensor& x, const Tensor& weight, float epsilon) {
  check_rms_norm(y, x, weight, Place::device);
  const int64_t rows = x.shape().rows(), columns = x.shape().columns();
  if (x.elements() == 0) return;
  constexpr int threads = 64;
  one_thread_kernel<<<static_cast<unsigned>((rows + threads - 1) / threads), threads, 0, device.stream()>>>(
      y.data<float>(), x.data<float>(), weight.data<float>(), rows, columns, epsilon);
  RUNG_CUDA_CHECK_LAUNCH("rms_norm_one_thread");
}

void rms_norm_shared_tree(Cuda& device, Tensor& y, const Tensor& x, const Tensor& weight, float epsilon) {
  check_rms_norm(y, x, weight, Place::device);
  const int64_t rows = x.shape().rows(), columns = x.shape().columns();
  if (x.elements() == 0) return;
  shared_tree_kernel<<<static_cast<unsigned>(rows), kTreeThreads, 0, device.stream()>>>(
      y.data<float>(), x.data<float>(), weight.data<float>(), columns, epsilon);
  RUNG_CUDA_CHECK_LAUNCH("rms_norm_shared_tree");
}

void rms_norm_warp_shuffles(Cuda& device, Tensor& y, const Tensor& x, const Tensor& weight, float epsilon) {
  check_rms_norm(y, x, weight, Place::device);
  const int64_t rows = x.shape().rows(), columns = x.shape().columns();
  if (x.elements() == 0) return;
  warp_shuffles_kernel<1><<<static_cast<unsigned>(rows), threads_for(columns), 0, device.stream()>>>(
      y.data<float>(), x.data<float>(), weight.data<float>(), columns, epsilon);
  RUNG_CUDA_CHECK_LAUNCH("rms_norm_warp_shuffles");
}

void rms_norm_vectors(Cuda& device, Tensor& y, const Tensor& x, const Tensor& weight, float epsilon) {
  check_rms_norm(y, x, weight, Place::device);
  const int64_t rows = x.shape().rows(), columns = x.shape().columns();
  if (x.elements() == 0) return;
  const auto kernel = columns % 4 == 0 ? warp_shuffles_kernel<4> : warp_shuffles_kernel<1>;
  kernel<<<static_cast<unsigned>(rows), threads_for(columns), 0, device.stream()>>>(
      y.data<float>(), x.data<float>(), weight.data<float>(), columns, epsilon);
  RUNG_CUDA_CHECK_LAUNCH("rms_norm_vectors");
}

void rms_norm(Cuda& device, Tensor& y, const Tensor& x, const Tensor& weight, float epsilon) {
  rms_norm_vectors(device, y, x, weight, epsilon);
}

void add_rms_norm(Cuda& device, Tensor& y, Tensor& residual, const Tensor& x, const Tensor& weight,
                  float epsilon) {
  check_add_rms_norm(y, residual, x, weight, Place::device);
  const int64_t rows = x.shape().rows(), columns = x.shape().columns();
  if (x.elements() == 0) return;
  const auto kernel = columns % 4 == 0 ? add_kernel<4> : add_kernel<1>;
  kernel<<<static_cast<unsigned>(rows), threads_for(columns), 0, device.stream()>>>(
      y.data<float>(), residual.data<float>(), x.data<float>(), weight.data<float>(), columns, epsilon);
  RUNG_CUDA_CHECK_LAUNCH("add_rms_norm");
}

}  // namespace rung
