// Memory, copies, streams, events and device queries.
#include <cuda_runtime.h>

#include <cstring>
#include <string>

#include "device_array.h"
#include "testing/catch.h"

using simt_tests::check;
using simt_tests::DeviceArray;

namespace {

__global__ void add_one(int* values, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) values[i] += 1;
}

}  // namespace

TEST_CASE("work on one stream runs in order", "[simt]") {
  cudaStream_t stream;
  check(cudaStreamCreate(&stream));
  int* pinned = nullptr;
  int* device = nullptr;
  check(cudaMallocHost(&pinned, 100 * sizeof(int)));
  check(cudaMallocAsync(&device, 100 * sizeof(int), stream));
  for (int i = 0; i < 100; ++i) pinned[i] = i;
  check(cudaMemcpyAsync(device, pinned, 100 * sizeof(int), cudaMemcpyHostToDevice, stream));
  add_one<<<1, 128, 0, stream>>>(device, 100);
  add_one<<<1, 128, 0, stream>>>(device, 50);
  check(cudaMemcpyAsync(pinned, device, 100 * sizeof(int), cudaMemcpyDeviceToHost, stream));
  check(cudaStreamSynchronize(stream));
  for (int i = 0; i < 100; ++i) REQUIRE(pinned[i] == i + (i < 50 ? 2 : 1));
  check(cudaFreeAsync(device, stream));
  check(cudaFreeHost(pinned));
  check(cudaStreamDestroy(stream));
}

TEST_CASE("events measure elapsed time", "[simt]") {
  cudaEvent_t start, stop;
  check(cudaEventCreate(&start));
  check(cudaEventCreate(&stop));
  DeviceArray<int> values(std::vector<int>(10000, 0));
  check(cudaEventRecord(start));
  for (int i = 0; i < 10; ++i) add_one<<<40, 256>>>(values.get(), 10000);
  check(cudaEventRecord(stop));
  check(cudaEventSynchronize(stop));
  float milliseconds = -1;
  check(cudaEventElapsedTime(&milliseconds, start, stop));
  REQUIRE(milliseconds > 0);
  REQUIRE(milliseconds < 60000);
  check(cudaEventDestroy(start));
  check(cudaEventDestroy(stop));
}

TEST_CASE("memset and two-dimensional copies", "[simt]") {
  unsigned char* device = nullptr;
  check(cudaMalloc(&device, 64 * 4));
  check(cudaMemset(device, 7, 64 * 4));
  const unsigned char in[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  check(cudaMemcpy2D(device + 2, 64, in, 3, 3, 4, cudaMemcpyHostToDevice));
  unsigned char out[64 * 4];
  check(cudaMemcpy(out, device, sizeof(out), cudaMemcpyDeviceToHost));
  for (int row = 0; row < 4; ++row)
    for (int i = 0; i < 64; ++i) REQUIRE(out[row * 64 + i] == (i >= 2 && i < 5 ? in[row * 3 + i - 2] : 7));
  check(cudaFree(device));
}

TEST_CASE("memory comes aligned to 256 bytes, and freeing null is allowed", "[simt]") {
  for (std::size_t bytes : {1u, 100u, 4097u}) {
    void* p = nullptr;
    check(cudaMalloc(&p, bytes));
    REQUIRE(reinterpret_cast<std::size_t>(p) % 256 == 0);
    check(cudaFree(p));
  }
  check(cudaFree(nullptr));
}

TEST_CASE("asking for more memory than there is fails and is forgotten", "[simt]") {
  void* p = nullptr;
  REQUIRE(cudaMalloc(&p, std::size_t{1} << 60) == cudaErrorMemoryAllocation);
  REQUIRE(cudaGetLastError() == cudaErrorMemoryAllocation);
  REQUIRE(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("free memory shrinks by what is allocated", "[simt]") {
  constexpr std::size_t kBytes = 64 << 20;
  std::size_t before = 0, during = 0, after = 0, total = 0, same_total = 0;
  void* p = nullptr;
  check(cudaMemGetInfo(&before, &total));
  check(cudaMalloc(&p, kBytes));
  check(cudaMemGetInfo(&during, &same_total));
  check(cudaFree(p));
  check(cudaMemGetInfo(&after, &same_total));
  CHECK(total == same_total);
  CHECK(before - during >= kBytes);
  CHECK(after - during >= kBytes);
}

TEST_CASE("device queries answer sensibly", "[simt]") {
  int count = 0, device = -1, value = 0;
  check(cudaGetDeviceCount(&count));
  REQUIRE(count >= 1);
  check(cudaSetDevice(0));
  check(cudaGetDevice(&device));
  REQUIRE(device == 0);
  REQUIRE(cudaSetDevice(1000) == cudaErrorInvalidDevice);
  REQUIRE(cudaGetLastError() == cudaErrorInvalidDevice);
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, 0));
  REQUIRE(properties.warpSize == 32);
  REQUIRE(properties.maxThreadsPerBlock == 1024);
  REQUIRE(properties.multiProcessorCount >= 1);
  REQUIRE(std::strlen(properties.name) > 0);
  REQUIRE(properties.sharedMemPerBlock == 48 * 1024);
  check(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  REQUIRE(value >= 48 * 1024);
  std::size_t free_bytes = 0, total = 0;
  check(cudaMemGetInfo(&free_bytes, &total));
  REQUIRE(free_bytes > 0);
  REQUIRE(free_bytes <= total);
  int blocks = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add_one, 256, 0));
  REQUIRE(blocks >= 1);
  REQUIRE(blocks * 256 <= properties.maxThreadsPerMultiProcessor);
  int fewer = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fewer, add_one, 256, 40 * 1024));
  REQUIRE(fewer >= 1);
  REQUIRE(fewer * 40 * 1024 <= static_cast<int>(properties.sharedMemPerMultiprocessor));
}

TEST_CASE("errors have names and texts", "[simt]") {
  REQUIRE(std::string(cudaGetErrorName(cudaErrorInvalidValue)) == "cudaErrorInvalidValue");
  REQUIRE(std::string(cudaGetErrorString(cudaSuccess)) == "no error");
  REQUIRE(std::string(cudaGetErrorString(cudaErrorMemoryAllocation)).find("out of memory") == 0);
}
