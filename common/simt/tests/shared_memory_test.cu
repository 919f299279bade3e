// Static and dynamic shared memory, and block barriers.
#include <cuda_runtime.h>

#include "block_sum.cuh"
#include "device_array.h"
#include "testing/catch.h"

using simt_tests::check;
using simt_tests::DeviceArray;

namespace {

constexpr int tile = 16;

template <class T>
__global__ void transpose(const T* in, T* out, int rows, int columns) {
  __shared__ T block[tile][tile + 1];
  int x = static_cast<int>(blockIdx.x) * tile + static_cast<int>(threadIdx.x);
  int y = static_cast<int>(blockIdx.y) * tile + static_cast<int>(threadIdx.y);
  if (x < columns && y < rows) block[threadIdx.y][threadIdx.x] = in[y * columns + x];
  __syncthreads();
  x = static_cast<int>(blockIdx.y) * tile + static_cast<int>(threadIdx.x);
  y = static_cast<int>(blockIdx.x) * tile + static_cast<int>(threadIdx.y);
  if (x < rows && y < columns) out[y * rows + x] = block[threadIdx.x][threadIdx.y];
}

template <class T, int threads>
__global__ void tree_sum(const T* in, T* out) {
  __shared__ T part[threads];
  part[threadIdx.x] = in[blockIdx.x * threads + threadIdx.x];
  __syncthreads();
  for (int half = threads / 2; half > 0; half /= 2) {
    if (static_cast<int>(threadIdx.x) < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}

struct alignas(16) Pair {
  float value;
  int index;
};

__global__ void several_variables(int* out) {
  __shared__ int a[4], b, *pointer;
  __shared__ __align__(16) float4 vectors[2];
  __shared__ volatile int flag;
  __shared__ Pair pairs[2][2];
  extern __shared__ __align__(16) unsigned char raw[];
  float* const floats = reinterpret_cast<float*>(raw);
  if (threadIdx.x == 0) {
    b = 7;
    pointer = a;
    flag = 1;
    vectors[1].w = 4.0f;
    pairs[1][0].index = 11;
  }
  a[threadIdx.x] = static_cast<int>(threadIdx.x) * 10;
  floats[threadIdx.x] = static_cast<float>(threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = pointer[3 - threadIdx.x] + b + flag + static_cast<int>(vectors[1].w) +
                     pairs[1][0].index + static_cast<int>(floats[3 - threadIdx.x]);
}

extern __shared__ float at_namespace_scope[];
__global__ void uses_namespace_scope(float* out, int n) {
  at_namespace_scope[threadIdx.x] = static_cast<float>(threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = at_namespace_scope[static_cast<unsigned>(n) - 1 - threadIdx.x];
}

__global__ void block_sums(const float* in, float* out) {
  const float first = simt_tests::block_sum(in[blockIdx.x * blockDim.x + threadIdx.x]);
  const float second = simt_tests::block_sum(1.0f);
  if (threadIdx.x == 0) {
    out[2 * blockIdx.x] = first;
    out[2 * blockIdx.x + 1] = second;
  }
}

__global__ void votes(int* out) {
  const int me = static_cast<int>(threadIdx.x);
  const int counted = __syncthreads_count(me % 3 == 0);
  const int all = __syncthreads_and(me < 1000);
  const int none = __syncthreads_and(me != 5);
  const int any = __syncthreads_or(me == 5);
  out[me] = counted * 1000 + all * 100 + none * 10 + any;
}

// Neighbours pass values around a ring; each step needs both barriers.
__global__ void ring(int* out, int steps) {
  extern __shared__ int values[];
  const unsigned me = threadIdx.x, left = (me + blockDim.x - 1) % blockDim.x;
  values[me] = static_cast<int>(me);
  for (int i = 0; i < steps; ++i) {
    __syncthreads();
    const int taken = values[left];
    __syncthreads();
    values[me] = taken;
  }
  out[blockIdx.x * blockDim.x + me] = values[me];
}

template <class T>
__global__ void dynamic_copy(T* values) {
  extern __shared__ __align__(16) unsigned char bytes[];
  T* copy = reinterpret_cast<T*>(bytes);
  copy[threadIdx.x] = values[threadIdx.x];
  __syncthreads();
  values[threadIdx.x] = copy[threadIdx.x];
}

__global__ void static_and_dynamic(float* out) {
  __shared__ float kept[4096];  // 16 KB
  extern __shared__ float asked[];
  kept[threadIdx.x] = asked[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = kept[31 - threadIdx.x] + asked[31 - threadIdx.x];
}

}  // namespace

TEST_CASE("a tile in shared memory transposes matrices that do not fill it", "[simt]") {
  for (const auto& shape : {std::pair<int, int>{1, 1}, {16, 16}, {17, 31}, {5, 47}}) {
    const int rows = shape.first, columns = shape.second;
    DeviceArray<float> in(simt_tests::iota<float>(static_cast<std::size_t>(rows * columns)));
    DeviceArray<float> out(static_cast<std::size_t>(rows * columns));
    transpose<float>
        <<<dim3(unsigned(columns + tile - 1) / tile, unsigned(rows + tile - 1) / tile), dim3(tile, tile)>>>(
            in.get(), out.get(), rows, columns);
    const std::vector<float> values = out.values();
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < columns; ++c)
        REQUIRE(values[static_cast<std::size_t>(c * rows + r)] == static_cast<float>(r * columns + c));
  }
}

TEST_CASE("a tree in shared memory sums blocks of several types and sizes", "[simt]") {
  DeviceArray<int> ints(simt_tests::iota<int>(3 * 256)), sums(3);
  tree_sum<int, 256><<<3, 256>>>(ints.get(), sums.get());
  REQUIRE(sums.values() == std::vector<int>{32640, 98176, 163712});
  DeviceArray<double> doubles(std::vector<double>(1024, 0.5)), total(1);
  tree_sum<double, 1024><<<1, 1024>>>(doubles.get(), total.get());
  REQUIRE(total.values()[0] == 512.0);
}

TEST_CASE("several shared variables of one kernel are distinct", "[simt]") {
  DeviceArray<int> out(4);
  several_variables<<<1, 4, 4 * sizeof(float)>>>(out.get());
  REQUIRE(out.values() == std::vector<int>{30 + 23 + 3, 20 + 23 + 2, 10 + 23 + 1, 0 + 23 + 0});
}

TEST_CASE("dynamic shared memory declared at namespace scope belongs to the running block", "[simt]") {
  DeviceArray<float> out(8);
  uses_namespace_scope<<<1, 8, 8 * sizeof(float)>>>(out.get(), 8);
  REQUIRE(out.values() == std::vector<float>{7, 6, 5, 4, 3, 2, 1, 0});
}

TEST_CASE("a device function in a .cuh file has shared memory of its own", "[simt]") {
  DeviceArray<float> in(simt_tests::iota<float>(192)), out(4);
  block_sums<<<2, 96>>>(in.get(), out.get());
  REQUIRE(out.values() == std::vector<float>{4560, 96, 13776, 96});
}

TEST_CASE("barriers count and combine predicates of all threads", "[simt]") {
  DeviceArray<int> out(100);
  votes<<<1, 100>>>(out.get());
  REQUIRE(out.values() == std::vector<int>(100, 34101));
}

TEST_CASE("values travel around a ring of threads", "[simt]") {
  for (int threads : {1, 33, 64, 1000}) {
    DeviceArray<int> out(static_cast<std::size_t>(3 * threads));
    ring<<<3, threads, threads * sizeof(int)>>>(out.get(), 5);
    const std::vector<int> values = out.values();
    for (int i = 0; i < 3 * threads; ++i)
      REQUIRE(values[static_cast<std::size_t>(i)] == ((i % threads - 5) % threads + threads) % threads);
  }
}

TEST_CASE("more than 48 KB of dynamic shared memory need the attribute, for each kernel its own", "[simt]") {
  constexpr int kBytes = 100 * 1024;
  DeviceArray<float> out(8);
  DeviceArray<int> numbers(8);
  uses_namespace_scope<<<1, 8, kBytes>>>(out.get(), 8);
  REQUIRE(cudaGetLastError() != cudaSuccess);
  check(cudaFuncSetAttribute(uses_namespace_scope, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
  uses_namespace_scope<<<1, 8, kBytes>>>(out.get(), 8);
  REQUIRE(out.values() == std::vector<float>{7, 6, 5, 4, 3, 2, 1, 0});
  cudaFuncAttributes attributes;
  check(cudaFuncGetAttributes(&attributes, uses_namespace_scope));
  REQUIRE(attributes.maxDynamicSharedSizeBytes == kBytes);
  ring<<<1, 8, kBytes>>>(numbers.get(), 1);  // another kernel
  REQUIRE(cudaGetLastError() != cudaSuccess);
  dynamic_copy<float><<<1, 8, kBytes>>>(out.get());
  REQUIRE(cudaGetLastError() != cudaSuccess);
  check(cudaFuncSetAttribute(dynamic_copy<int>, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
  dynamic_copy<float><<<1, 8, kBytes>>>(out.get());  // another instance of the template
  REQUIRE(cudaGetLastError() != cudaSuccess);
  dynamic_copy<int><<<1, 8, kBytes>>>(numbers.get());
  REQUIRE(cudaGetLastError() == cudaSuccess);
  REQUIRE(cudaFuncSetAttribute(ring, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20) ==
          cudaErrorInvalidValue);
  REQUIRE(cudaGetLastError() == cudaErrorInvalidValue);
}

TEST_CASE("static and dynamic shared memory together keep to the limit", "[simt]") {
  DeviceArray<float> out(32);
  static_and_dynamic<<<1, 32, 32 * 1024>>>(out.get());
  REQUIRE(out.values() == std::vector<float>(32, 2.0f));
}
