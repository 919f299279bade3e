// Reads and writes past the end.
#include <cuda_runtime.h>

#include "planted.h"

namespace {

using planted::Buffer;
using planted::Means;

template <bool wrong>
__global__ void tile_edge(float* out) {
  __shared__ float tile[8][8];
  const int x = static_cast<int>(threadIdx.x) % 8, y = static_cast<int>(threadIdx.x) / 8 % 8;
  tile[y][x] = 1;
  __syncthreads();
  float sum = 0;
  for (int i = 0; wrong ? i <= 8 : i < 8; ++i) sum += tile[y][i];  // BUG
  out[threadIdx.x] = sum;
}
void run_tile(bool wrong, int threads) {
  Buffer<float> out(static_cast<std::size_t>(threads));
  if (wrong)
    tile_edge<true><<<1, threads>>>(out.data);
  else
    tile_edge<false><<<1, threads>>>(out.data);
}
const planted::Register tile("off by one at a tile's edge", Means::compiled,
                             {"kernel 'tile_edge<true>' block (0,0,0) thread (", "index 8 is out of bounds",
                              "BUG"},
                             run_tile);

__device__ float at(const float* values, int i) {
  const float value = values[i];  // BUG
  return value;
}

__global__ void read_static(float* out, int last) {
  __shared__ float values[32];
  values[threadIdx.x % 32] = 1;
  __syncthreads();
  out[threadIdx.x] = at(values, last);
}
void run_static(bool wrong, int threads) {
  Buffer<float> out(static_cast<std::size_t>(threads));
  read_static<<<1, threads>>>(out.data, wrong ? 32 : 31);
}
const planted::Register past_static("read past a static shared array", Means::address,
                                    {"in kernel 'read_static' block (0,0,0) thread (", "heap-buffer-overflow",
                                     "BUG"},
                                    run_static);

__global__ void read_dynamic(float* out, int last) {
  extern __shared__ float values[];
  values[threadIdx.x % 32] = 1;
  __syncthreads();
  out[threadIdx.x] = at(values, last);
}
void run_dynamic(bool wrong, int threads) {
  Buffer<float> out(static_cast<std::size_t>(threads));
  read_dynamic<<<1, threads, 32 * sizeof(float)>>>(out.data, wrong ? 32 : 31);
}
const planted::Register past_dynamic("read past dynamic shared memory", Means::address,
                                     {"in kernel 'read_dynamic' block (0,0,0) thread (",
                                      "heap-buffer-overflow", "BUG"},
                                     run_dynamic);

__global__ void copy_elements(const float* in, float* out, int n, int extra) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n + extra) out[i % n] = at(in, i);
}
void run_global(bool wrong, int threads) {
  Buffer<float> in(100), out(100);
  const int blocks = 100 / threads + 1;
  copy_elements<<<blocks, threads>>>(in.data, out.data, 100, wrong ? 1 : 0);
}
const planted::Register past_global("read past a global buffer by one", Means::address,
                                    {"in kernel 'copy_elements' block (", "heap-buffer-overflow",
                                     "0 bytes to the right of 400-byte region", "BUG"},
                                    run_global);

__global__ void fill_elements(float* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[i] = 1;  // BUG
}
void run_fill(bool wrong, int threads) {
  Buffer<float> out(100);
  fill_elements<<<100 / threads + 1, threads>>>(out.data, wrong ? 101 : 100);
}
const planted::Register past_global_write("write past a global buffer by one", Means::address,
                                          {"in kernel 'fill_elements' block (", "heap-buffer-overflow",
                                           "WRITE of size 4", "0 bytes to the right of 400-byte region",
                                           "BUG"},
                                          run_fill);

void run_freed(bool wrong, int threads) {
  Buffer<float> out(100);
  float* in = nullptr;
  cudaMalloc(&in, 400);
  cudaMemset(in, 0, 400);
  if (wrong) cudaFree(in);
  copy_elements<<<100 / threads + 1, threads>>>(in, out.data, 100, 0);
  if (!wrong) cudaFree(in);
}
const planted::Register freed("read of freed memory", Means::address,
                              {"in kernel 'copy_elements' block (", "heap-use-after-free", "BUG"}, run_freed);

__global__ void write_dynamic(float* out, int n) {
  extern __shared__ float values[];
  for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x)) values[i] = 1;
  __syncthreads();
  out[threadIdx.x] = values[0];
}
void run_write(bool wrong, int threads) {
  Buffer<float> out(static_cast<std::size_t>(threads));
  write_dynamic<<<1, threads, 128>>>(out.data, wrong ? 33 : 32);
}
const planted::Register past_dynamic_write(
    "write past dynamic shared memory", Means::compiled,
    {"kernel 'write_dynamic' block (0,0,0)",
     "a write past shared 'dynamic shared memory' (128 bytes), at byte 128"},
    run_write);

}  // namespace
