// Results that are wrong though no access is: uninitialised memory, order, leaks, host access.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#include "planted.h"
#include "simt/checks.h"

namespace {

using planted::Buffer;
using planted::Means;

template <bool wrong>
__global__ void block_total(float* out) {
  __shared__ float total;
  if (!wrong && threadIdx.x == 0) total = 0;
  __syncthreads();
  atomicAdd(&total, 1.0f);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = total;
}
void run_total(bool wrong, int threads) {
  Buffer<float> out(4);
  if (wrong)
    block_total<true><<<4, threads>>>(out.data);
  else
    block_total<false><<<4, threads>>>(out.data);
}
const planted::Register uninitialised("uninitialised shared memory", Means::always,
                                      {"kernel 'block_total<true>' block (0,0,0)",
                                       "uninitialised shared memory reached global memory"},
                                      run_total, "nan");

template <bool wrong>
__global__ void copy_through_shared(const float* in, float* out) {
  extern __shared__ float values[];
  const int me = static_cast<int>(threadIdx.x);
  __pipeline_memcpy_async(values + me, in + me, sizeof(float));
  __pipeline_commit();
  __pipeline_wait_prior(wrong ? 1 : 0);
  out[me] = values[me];
}
void run_copy(bool wrong, int threads) {
  Buffer<float> in(static_cast<std::size_t>(threads)), out(static_cast<std::size_t>(threads));
  const std::size_t bytes = static_cast<std::size_t>(threads) * sizeof(float);
  if (wrong)
    copy_through_shared<true><<<1, threads, bytes>>>(in.data, out.data);
  else
    copy_through_shared<false><<<1, threads, bytes>>>(in.data, out.data);
}
const planted::Register too_early("an asynchronous copy read before it has arrived", Means::always,
                                  {"kernel 'copy_through_shared<true>' block (0,0,0)",
                                   "uninitialised shared memory reached global memory"},
                                  run_copy, "nan");

template <bool wrong>
__global__ void append(const int* in, int* out, int* used) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (wrong)
    out[atomicAdd(used, 1)] = in[i];
  else
    out[i] = in[i];
}
std::vector<int> appended(bool wrong, int threads) {
  const std::size_t n = static_cast<std::size_t>(threads) * 4;
  Buffer<int> in(n), out(n), used(1);
  std::vector<int> numbers(n);
  for (std::size_t i = 0; i < n; ++i) numbers[i] = static_cast<int>(i);
  cudaMemcpy(in.data, numbers.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  if (wrong)
    append<true><<<4, threads>>>(in.data, out.data, used.data);
  else
    append<false><<<4, threads>>>(in.data, out.data, used.data);
  return out.values(n);
}
void run_order(bool wrong, int threads) {
  const std::string difference = simt::order_difference([&] { return appended(wrong, threads); });
  if (!difference.empty()) std::fprintf(stderr, "append: %s\n", difference.c_str());
}
const planted::Register order("a result that depends on the order of threads", Means::always,
                              {"append: the result depends on the order", "element 0 is ", "RUNG_SIMT_SEED="},
                              run_order);

template <bool wrong>
__global__ void sum_blocks(const float* in, float* out) {
  if (threadIdx.x != 0) return;
  const float mine = in[blockIdx.x];
  if (wrong)
    atomicAdd(out, mine);  // float addition in the order in which blocks come
  else
    out[blockIdx.x] = mine;
}
std::vector<float> block_sums(bool wrong, int threads) {
  Buffer<float> in(64), out(64);
  std::vector<float> numbers(64);
  for (std::size_t i = 0; i < 64; ++i)
    numbers[i] = 1.0f / static_cast<float>(3 * i + 1) * (i % 2 ? 1e4f : 1.0f);
  cudaMemcpy(in.data, numbers.data(), 64 * sizeof(float), cudaMemcpyHostToDevice);
  if (wrong)
    sum_blocks<true><<<64, threads>>>(in.data, out.data);
  else
    sum_blocks<false><<<64, threads>>>(in.data, out.data);
  return out.values(64);
}
void run_block_order(bool wrong, int threads) {
  const std::string difference = simt::order_difference([&] { return block_sums(wrong, threads); });
  if (!difference.empty()) std::fprintf(stderr, "sum_blocks: %s\n", difference.c_str());
}
const planted::Register block_order("a sum that depends on the order of blocks", Means::always,
                                    {"sum_blocks: the result depends on the order", "element 0 is ",
                                     "RUNG_SIMT_SEED="},
                                    run_block_order);

void run_out(bool wrong, int) {
  setenv("RUNG_SIMT_MEMORY_MB", "2", 1);
  Buffer<char> first(1 << 20);
  void* second = nullptr;
  cudaMalloc(&second, (1 << 20) + (wrong ? 1 : 0));
  cudaFree(second);
}
const planted::Register out_of_memory("more device memory than there is", Means::always,
                                      {"out of memory: 1048577 bytes asked for, 1048576 of 2097152 are free"},
                                      run_out);

void run_capture(bool wrong, int threads) {
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  Buffer<float> in(static_cast<std::size_t>(threads)), out(static_cast<std::size_t>(threads));
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  void* memory = nullptr;
  if (wrong) cudaMalloc(&memory, 1000);
  copy_through_shared<false>
      <<<1, threads, static_cast<std::size_t>(threads) * sizeof(float), stream>>>(in.data, out.data);
  cudaGraph_t graph = nullptr;
  const cudaError_t error = cudaStreamEndCapture(stream, &graph);
  if (error != cudaSuccess) std::fprintf(stderr, "capture: %s\n", cudaGetErrorName(error));
  if (graph != nullptr) cudaGraphDestroy(graph);
  cudaGetLastError();
  cudaStreamDestroy(stream);
}
const planted::Register captured("an allocation while a stream captures", Means::always,
                                 {"capture: cudaErrorStreamCaptureInvalidated"}, run_capture);

void run_leak(bool wrong, int) {
  float* memory = nullptr;
  cudaMalloc(&memory, 1000);
  if (!wrong) cudaFree(memory);
}
const planted::Register leak("device memory that is never freed", Means::always,
                             {"1 allocation of device or pinned memory never freed, 1000 bytes"}, run_leak,
                             "leaks");

void run_host(bool wrong, int) {
  Buffer<float> memory(100);
  float value = 0;
  if (wrong)
    value = *const_cast<volatile float*>(memory.data + 7);
  else
    cudaMemcpy(&value, memory.data + 7, sizeof(float), cudaMemcpyDeviceToHost);
  if (value != 0) std::fprintf(stderr, "unexpected %f\n", value);
}
const planted::Register host("host code reads device memory", Means::always,
                             {"host code touches device memory: byte 28 of 400"}, run_host, "host");

}  // namespace
