// Grids, blocks, indices, templates and the launch syntax that the translator has to understand.
#include <cuda_runtime.h>

#include "device_array.h"
#include "testing/catch.h"

using simt_tests::check;
using simt_tests::DeviceArray;

namespace {

__global__ void record_index(int* out) {
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
  out[block * threads + thread] +=
      static_cast<int>(blockIdx.z * 100000 + blockIdx.y * 10000 + blockIdx.x * 1000 + threadIdx.z * 100 +
                       threadIdx.y * 10 + threadIdx.x);
}

template <class T, int step>
__global__ void __launch_bounds__(1024) add_step(T* values, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) values[i] = static_cast<T>(values[i] + step);
}

template <class T>
__global__ void fill(T* values, T value) {
  values[threadIdx.x] = value;
}

template <class Function>
__global__ void apply(float* values, Function function) {
  values[threadIdx.x] = function(values[threadIdx.x]);
}

struct Scale {
  float factor;
  __host__ __device__ float operator()(float x) const { return x * factor; }
};

struct Shape {
  int rows, columns;
};
__global__ void shape_area(const __grid_constant__ Shape shape, int* out) {
  *out = shape.rows * shape.columns;
}

namespace inner {
template <int a, int b>
__global__ void sum_of_parameters(int* out) {
  *out = a + b;
}
}  // namespace inner

__device__ __noinline__ int square(int x) {
  return x * x;
}
__device__ __forceinline__ int twice(int x) {
  return 2 * x;
}
__global__ void calls(int* out) {
  out[threadIdx.x] = square(static_cast<int>(threadIdx.x)) + twice(static_cast<int>(threadIdx.x));
}

__constant__ float table[4];
__device__ int counter;
__global__ void read_table(float* out) {
  out[threadIdx.x] = table[threadIdx.x];
  if (threadIdx.x == 0) counter = counter + 5;
}

int choose(int a, int b) {
  return a < b ? a : b;
}

}  // namespace

TEST_CASE("every thread of a three-dimensional grid runs once, with its own indices", "[simt]") {
  DeviceArray<int> out(std::vector<int>(2 * 3 * 2 * 4 * 3 * 2, 0));
  record_index<<<dim3(2, 3, 2), dim3(4, 3, 2)>>>(out.get());
  const std::vector<int> values = out.values();
  int at = 0;
  for (int bz = 0; bz < 2; ++bz)
    for (int by = 0; by < 3; ++by)
      for (int bx = 0; bx < 2; ++bx)
        for (int tz = 0; tz < 2; ++tz)
          for (int ty = 0; ty < 3; ++ty)
            for (int tx = 0; tx < 4; ++tx)
              REQUIRE(values[static_cast<std::size_t>(at++)] ==
                      bz * 100000 + by * 10000 + bx * 1000 + tz * 100 + ty * 10 + tx);
}

TEST_CASE("template kernels launch with explicit and with deduced arguments", "[simt]") {
  const int n = 1000;
  DeviceArray<int> ints(simt_tests::iota<int>(n));
  add_step<int, 3><<<(n + 255) / 256, 256>>>(ints.get(), n);
  add_step<int, (4 > 3) ? 2 : 1><<<dim3((n + 127) / 128), dim3(choose(128, 256)), 0, nullptr>>>(
      ints.get(),  // a comment with <<< and >>> in it
      n);
  const std::vector<int> values = ints.values();
  for (int i = 0; i < n; ++i) REQUIRE(values[static_cast<std::size_t>(i)] == i + 5);

  DeviceArray<double> doubles(7);
  fill<<<1, 7>>>(doubles.get(), 2.5);
  REQUIRE(doubles.values() == std::vector<double>(7, 2.5));
  const char* text = "not<<<a, launch>>>(here)";
  REQUIRE(std::string(text).size() == 24);
  REQUIRE(std::string(R"(nor<<<1, 1>>>("here"))").size() == 21);
}

TEST_CASE("structures and function objects are kernel parameters", "[simt]") {
  DeviceArray<float> values(std::vector<float>{1, 2, 3});
  apply<<<1, 3>>>(values.get(), Scale{2.0f});
  REQUIRE(values.values() == std::vector<float>{2, 4, 6});
  DeviceArray<int> area(1);
  shape_area<<<1, 1>>>(Shape{3, 5}, area.get());
  REQUIRE(area.values()[0] == 15);
  inner::sum_of_parameters<2, 40><<<1, 1>>>(area.get());
  REQUIRE(area.values()[0] == 42);
  ::inner::sum_of_parameters<1, 2><<<1, 1>>>(area.get());
  REQUIRE(area.values()[0] == 3);
  if (area.get() != nullptr) calls<<<1, 1>>>(area.get());
  REQUIRE(area.values()[0] == 0);
}

TEST_CASE("a kernel launches through a function pointer", "[simt]") {
  void (*kernel)(int*) = calls;
  DeviceArray<int> out(5);
  kernel<<<1, 5>>>(out.get());
  REQUIRE(out.values() == std::vector<int>{0, 3, 8, 15, 24});
  int* pointer = out.get();
  void* arguments[] = {&pointer};
  check(cudaMemset(out.get(), 0, 5 * sizeof(int)));
  check(cudaLaunchKernel(calls, dim3(1), dim3(5), arguments, 0, nullptr));
  REQUIRE(out.values() == std::vector<int>{0, 3, 8, 15, 24});
}

TEST_CASE("constant memory and device variables are written from the host", "[simt]") {
  const float values[4] = {1, 4, 9, 16};
  check(cudaMemcpyToSymbol(table, values, sizeof(values)));
  const int five = 37;
  check(cudaMemcpyToSymbol(counter, &five, sizeof(five)));
  DeviceArray<float> out(4);
  read_table<<<1, 4>>>(out.get());
  REQUIRE(out.values() == std::vector<float>{1, 4, 9, 16});
  int now = 0;
  check(cudaMemcpyFromSymbol(&now, counter, sizeof(now)));
  REQUIRE(now == 42);
}

TEST_CASE("many small blocks and one large block give the same sums", "[simt]") {
  DeviceArray<int> values(simt_tests::iota<int>(4096));
  add_step<int, 1><<<4096, 1>>>(values.get(), 4096);
  add_step<int, 1><<<4, 1024>>>(values.get(), 4096);
  REQUIRE(values.values() == simt_tests::iota<int>(4096, 2));
}

TEST_CASE("a launch with a wrong configuration is refused and the next one works", "[simt]") {
  DeviceArray<int> out(4);
  auto refused = [] {
    const cudaError_t error = cudaGetLastError();
    return error == cudaErrorInvalidConfiguration || error == cudaErrorInvalidValue;
  };
  calls<<<1, 1025>>>(out.get());
  REQUIRE(refused());
  calls<<<0, 4>>>(out.get());
  REQUIRE(refused());
  calls<<<1, 0>>>(out.get());
  REQUIRE(refused());
  calls<<<1, dim3(1, 1, 65)>>>(out.get());
  REQUIRE(refused());
  calls<<<dim3(1, 65536), 1>>>(out.get());
  REQUIRE(refused());
  calls<<<1, 4, 300 * 1024>>>(out.get());
  REQUIRE(refused());
  REQUIRE(cudaGetLastError() == cudaSuccess);
  calls<<<1, 4>>>(out.get());
  REQUIRE(out.values() == std::vector<int>{0, 3, 8, 15});
}
