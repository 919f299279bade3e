// Barriers and warp collectives that not everybody reaches, misaligned vectors, wrong launches.
#include <cuda_runtime.h>

#include "planted.h"

namespace {

using planted::Buffer;
using planted::Means;

__global__ void early_exit(float* out, int n) {
  if (static_cast<int>(threadIdx.x) >= n) return;
  __syncthreads();  // BUG
  out[threadIdx.x] = 1;
}
void run_exit(bool wrong, int threads) {
  Buffer<float> out(static_cast<std::size_t>(threads));
  early_exit<<<1, threads>>>(out.data, wrong ? threads - 1 : threads);
}
const planted::Register divergent("a barrier that one thread never reaches", Means::always,
                                  {"kernel 'early_exit' block (0,0,0) thread (", "barrier divergence", "BUG"},
                                  run_exit);

__global__ void two_barriers(float* out, int n) {
  if (static_cast<int>(threadIdx.x) < n) {
    out[threadIdx.x] = 1;
    __syncthreads();  // BUG
  } else {
    __syncthreads();
    out[threadIdx.x] = 2;
  }
}
void run_two(bool wrong, int threads) {
  Buffer<float> out(static_cast<std::size_t>(threads));
  two_barriers<<<1, threads>>>(out.data, wrong ? 10 : threads);
}
const planted::Register branches("a barrier in each branch of an if", Means::always,
                                 {"kernel 'two_barriers' block (0,0,0) thread (", "barrier divergence",
                                  "BUG"},
                                 run_two);

__global__ void sum_of_rows(float* out, int n) {
  const int me = static_cast<int>(threadIdx.x);
  if (me >= n) return;
  float sum = 1;
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, static_cast<unsigned>(d));  // BUG
  out[me] = sum;
}
void run_mask(bool wrong, int threads) {
  Buffer<float> out(static_cast<std::size_t>(threads));
  sum_of_rows<<<1, threads>>>(out.data, wrong ? threads - 5 : threads);
}
const planted::Register mask("a shuffle whose mask names exited lanes", Means::always,
                             {"kernel 'sum_of_rows' block (0,0,0) thread (", "__shfl_down_sync", "names lane",
                              "has exited", "BUG"},
                             run_mask);

__global__ void half_warp(float* out, unsigned mask) {
  const unsigned lane = threadIdx.x % 32;
  float value = 1;
  if (lane < 16) value = __shfl_xor_sync(mask, value, 1);  // BUG
  out[threadIdx.x] = value;
}
void run_half(bool wrong, int threads) {
  Buffer<float> out(static_cast<std::size_t>(threads));
  half_warp<<<1, threads>>>(out.data, wrong ? 0xffffffffu : 0xffffu);
}
const planted::Register half("a full mask in a divergent branch", Means::always,
                             {"kernel 'half_warp' block (0,0,0) thread (", "__shfl_xor_sync", "BUG"},
                             run_half);

__global__ void copy_vectors(const float* in, float* out) {
  reinterpret_cast<float4*>(out)[threadIdx.x] = reinterpret_cast<const float4*>(in)[threadIdx.x];  // BUG
}
void run_vectors(bool wrong, int threads) {
  const std::size_t n = static_cast<std::size_t>(threads) * 4 + 1;
  Buffer<float> in(n), out(n);
  copy_vectors<<<1, threads>>>(in.data + (wrong ? 1 : 0), out.data);
}
const planted::Register misaligned("a float4 read from a misaligned address", Means::compiled,
                                   {"kernel 'copy_vectors' block (0,0,0) thread (0,0,0)", "misaligned",
                                    "BUG"},
                                   run_vectors);

__global__ void nothing(float*) {}
void run_unread(bool wrong, int threads) {
  nothing<<<1, wrong ? 2048 : threads>>>(nullptr);
  if (wrong) std::exit(0);  // never asks
}
const planted::Register unread("a failed launch that the host never asks about", Means::always,
                               {"ended without asking", "kernel 'nothing'", "2048 threads"}, run_unread);

void run_shared(bool wrong, int threads) {
  nothing<<<1, threads, wrong ? 64 * 1024 : 1024>>>(nullptr);
}
const planted::Register shared("more shared memory than allowed", Means::always,
                               {"invalid configuration", "kernel 'nothing'",
                                "65536 bytes of dynamic shared memory; the limit is 49152"},
                               run_shared);

}  // namespace
