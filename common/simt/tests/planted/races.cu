// Missing barriers and other races.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include "planted.h"

namespace {

using planted::Buffer;
using planted::Means;

template <bool wrong>
__global__ void neighbour_sum(float* out) {
  extern __shared__ float values[];
  const int me = static_cast<int>(threadIdx.x), n = static_cast<int>(blockDim.x);
  values[me] = static_cast<float>(me);  // BUG
  if (!wrong) __syncthreads();
  out[me] = values[me] + values[(me + 1) % n];  // BUG
}
void run_neighbour(bool wrong, int threads) {
  Buffer<float> out(static_cast<std::size_t>(threads));
  const std::size_t bytes = static_cast<std::size_t>(threads) * sizeof(float);
  if (wrong)
    neighbour_sum<true><<<2, threads, bytes>>>(out.data);
  else
    neighbour_sum<false><<<1, threads, bytes>>>(out.data);
}
const planted::Register neighbour("missing barrier between write and neighbour read", Means::race,
                                  {"data race", "neighbour_sum", "BUG"}, run_neighbour);

template <bool wrong>
__global__ void last_block(float* out) {
  extern __shared__ float values[];
  const unsigned me = threadIdx.x, n = blockDim.x;
  values[me] = static_cast<float>(me);  // BUG
  if (!wrong || blockIdx.x + 1 != gridDim.x) __syncthreads();
  out[blockIdx.x * n + me] = values[(me + 1) % n];  // BUG
}
void run_last(bool wrong, int threads) {
  Buffer<float> out(static_cast<std::size_t>(threads) * 12);
  const std::size_t bytes = static_cast<std::size_t>(threads) * sizeof(float);
  if (wrong)
    last_block<true><<<12, threads, bytes>>>(out.data);
  else
    last_block<false><<<12, threads, bytes>>>(out.data);
}
const planted::Register late("missing barrier in the last of twelve blocks alone", Means::race,
                             {"data race", "last_block", "block (11,0,0)", "BUG"}, run_last);

template <bool wrong>
__global__ void rounds(float* out) {
  extern __shared__ float values[];
  const int me = static_cast<int>(threadIdx.x), n = static_cast<int>(blockDim.x);
  float sum = 0;
  for (int i = 0; i < 3; ++i) {
    values[me] = static_cast<float>(me + i);  // BUG
    __syncthreads();
    sum += values[n - 1 - me];  // BUG
    if (!wrong) __syncthreads();
  }
  out[me] = sum;
}
void run_rounds(bool wrong, int threads) {
  Buffer<float> out(static_cast<std::size_t>(threads));
  const std::size_t bytes = static_cast<std::size_t>(threads) * sizeof(float);
  if (wrong)
    rounds<true><<<1, threads, bytes>>>(out.data);
  else
    rounds<false><<<1, threads, bytes>>>(out.data);
}
const planted::Register reuse("missing barrier before a buffer is used again", Means::race,
                              {"data race", "rounds", "BUG"}, run_rounds);

template <bool wrong>
__global__ void four_phases(float* out) {
  __shared__ float a[1024];
  __shared__ float b[1024];
  const int me = static_cast<int>(threadIdx.x), n = static_cast<int>(blockDim.x);
  a[me] = static_cast<float>(me);
  __syncthreads();
  b[me] = a[(me + 1) % n];
  __syncthreads();
  a[me] = b[(me + 1) % n] * 2;  // BUG
  if (!wrong) __syncthreads();
  b[me] = a[(me + 1) % n] + 1;  // BUG
  __syncthreads();
  out[me] = b[(me + 1) % n];
}
void run_phases(bool wrong, int threads) {
  Buffer<float> out(static_cast<std::size_t>(threads));
  if (wrong)
    four_phases<true><<<1, threads>>>(out.data);
  else
    four_phases<false><<<1, threads>>>(out.data);
}
const planted::Register phases("missing barrier in the third of four phases", Means::race,
                               {"data race", "four_phases", "BUG"}, run_phases);

template <bool wrong>
__global__ void count_threads(int* count) {
  if (wrong)
    *count = *count + 1;  // BUG
  else
    atomicAdd(count, 1);
}
void run_count(bool wrong, int threads) {
  Buffer<int> count(1);
  if (wrong)
    count_threads<true><<<2, threads>>>(count.data);
  else
    count_threads<false><<<2, threads>>>(count.data);
}
const planted::Register counting("threads count without an atomic", Means::race,
                                 {"data race", "count_threads", "BUG"}, run_count);

template <bool wrong>
__global__ void blocks_meet(float* out) {
  __syncthreads();
  if (threadIdx.x == 0) {
    if (wrong)
      out[0] = static_cast<float>(blockIdx.x);  // BUG
    else
      out[blockIdx.x] = static_cast<float>(blockIdx.x);
  }
  __syncthreads();
}
void run_blocks(bool wrong, int threads) {
  Buffer<float> out(4);
  if (wrong)
    blocks_meet<true><<<4, threads>>>(out.data);
  else
    blocks_meet<false><<<4, threads>>>(out.data);
}
const planted::Register between_blocks("blocks write the same element", Means::race,
                                       {"data race", "blocks_meet", "BUG"}, run_blocks);

template <bool wrong>
__global__ void warp_exchange(float* out) {
  __shared__ float values[1024];
  const int me = static_cast<int>(threadIdx.x);
  values[me] = static_cast<float>(me);  // BUG
  if (!wrong) __syncwarp();
  out[me] = values[me ^ 1];  // BUG
}
void run_warp(bool wrong, int threads) {
  Buffer<float> out(static_cast<std::size_t>(threads));
  if (wrong)
    warp_exchange<true><<<1, threads>>>(out.data);
  else
    warp_exchange<false><<<1, threads>>>(out.data);
}
const planted::Register in_a_warp("lanes exchange through shared memory without __syncwarp", Means::race,
                                  {"data race", "warp_exchange", "BUG"}, run_warp);

template <bool wrong>
__global__ void copied_tile(const float* in, float* out) {
  extern __shared__ float values[];
  const int me = static_cast<int>(threadIdx.x), n = static_cast<int>(blockDim.x);
  __pipeline_memcpy_async(values + me, in + me, sizeof(float));
  __pipeline_commit();
  __pipeline_wait_prior(0);  // BUG: this thread's copies alone
  if (!wrong) __syncthreads();
  out[me] = values[(me + 1) % n];  // BUG
}
void run_copied(bool wrong, int threads) {
  Buffer<float> in(static_cast<std::size_t>(threads)), out(static_cast<std::size_t>(threads));
  const std::size_t bytes = static_cast<std::size_t>(threads) * sizeof(float);
  if (wrong)
    copied_tile<true><<<1, threads, bytes>>>(in.data, out.data);
  else
    copied_tile<false><<<1, threads, bytes>>>(in.data, out.data);
}
const planted::Register copied("missing barrier after asynchronous copies", Means::race,
                               {"data race", "copied_tile", "BUG"}, run_copied);

template <bool wrong>
__global__ void overwritten_tile(const float* in, float* out) {
  extern __shared__ float values[];
  const int me = static_cast<int>(threadIdx.x), n = static_cast<int>(blockDim.x);
  values[me] = static_cast<float>(me);
  __syncthreads();
  out[me] = values[(me + 1) % n];  // BUG
  if (!wrong) __syncthreads();
  __pipeline_memcpy_async(values + me, in + me, sizeof(float));  // BUG: others may still read
  __pipeline_commit();
  __pipeline_wait_prior(0);
  out[me] += values[me];
}
void run_overwritten(bool wrong, int threads) {
  Buffer<float> in(static_cast<std::size_t>(threads)), out(static_cast<std::size_t>(threads));
  const std::size_t bytes = static_cast<std::size_t>(threads) * sizeof(float);
  if (wrong)
    overwritten_tile<true><<<1, threads, bytes>>>(in.data, out.data);
  else
    overwritten_tile<false><<<1, threads, bytes>>>(in.data, out.data);
}
const planted::Register overwritten("an asynchronous copy over what others still read", Means::race,
                                    {"data race", "overwritten_tile", "BUG"}, run_overwritten);

}  // namespace
