// Wrong kernels end their launch with an error that names kernel, block and thread. Emulator only: on a GPU
// most of these hang, corrupt memory or pass by luck.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cmath>
#include <stdexcept>

#include "device_array.h"
#include "testing/catch.h"

#if RUNG_CUDA_EMULATED

using simt_tests::DeviceArray;

namespace {

constexpr int barrier_line = __LINE__ + 2;
__global__ void barrier_for_some(float* out) {
  if (threadIdx.x < 16) __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}
constexpr int branches_line = __LINE__ + 3;
__global__ void two_barriers(float* out) {
  if (threadIdx.x % 2 == 0) {
    __syncthreads();
  } else {
    __syncthreads();
  }
  out[threadIdx.x] = 1;
}
__global__ void shuffle_after_exit(float* out) {
  if (threadIdx.x >= 20) return;
  out[threadIdx.x] = __shfl_down_sync(0xffffffffu, 1.0f, 1);
}
__global__ void shuffle_without_self(float* out) {
  out[threadIdx.x] = __shfl_sync(0x0000ffffu, 1.0f, 0);
}
__global__ void shuffle_from_outside(float* out) {
  if (threadIdx.x < 16) out[threadIdx.x] = __shfl_xor_sync(0x0000ffffu, 1.0f, 16);
}
[[maybe_unused]] constexpr int misaligned_line = __LINE__ + 2;
[[maybe_unused]] __global__ void misaligned(float* out) {
  *reinterpret_cast<float4*>(out + 1) = make_float4(1, 2, 3, 4);
}
[[maybe_unused]] constexpr int row_line = __LINE__ + 3;
[[maybe_unused]] __global__ void past_a_row(float* out, int column) {
  __shared__ float tile[4][8];
  tile[threadIdx.x][column] = 1;
  out[threadIdx.x] = tile[threadIdx.x][0];
}
[[maybe_unused]] __global__ void past_dynamic(float* out, int n) {
  extern __shared__ float buffer[];
  buffer[n] = 1;
  out[0] = buffer[0];
}
__global__ void static_and_dynamic(float* out) {
  __shared__ float kept[4096];  // 16 KB
  extern __shared__ float asked[];
  kept[threadIdx.x] = asked[threadIdx.x] = 1;
  out[threadIdx.x] = kept[threadIdx.x];
}
constexpr int copy_line = __LINE__ + 3;
__global__ void copy_async(float* shared_or_not, const float* in, std::size_t bytes, std::size_t offset) {
  __shared__ float4 values[2];
  __pipeline_memcpy_async(shared_or_not ? shared_or_not : &values[0].x + offset, in, bytes);
}
__global__ void waits_for_nothing(const float* in, float* out, bool commit) {
  __shared__ float value;
  __pipeline_memcpy_async(&value, in, 4);
  if (commit)
    __pipeline_commit();
  else
    __pipeline_wait_prior(0);
  out[0] = value;
}
constexpr int few(int a, int b) {
  return a * b;
}
__global__ void __launch_bounds__(few(4, 16), 2) bounded(float* out) {
  out[threadIdx.x] = 1;
}
__global__ void stops(float* out) {
  if (threadIdx.x == 3) __trap();
  out[threadIdx.x] = 1;
}
__global__ void throws(float* out) {
  __syncthreads();
  if (threadIdx.x == 2) throw std::runtime_error("not done: 06.2");
  out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}
__global__ void uninitialised(float* out) {
  __shared__ float sum;
  sum += 1.0f;
  out[0] = sum;
}

/// The text of the error that the last launch left; forgets it.
std::string error_text(cudaError_t code) {
  REQUIRE(cudaPeekAtLastError() == code);
  REQUIRE(cudaDeviceSynchronize() == code);
  const std::string text = cudaGetErrorString(cudaGetLastError());
  CHECK(text.find(simt::last_error_detail()) != std::string::npos);
  simt::clear_errors();
  REQUIRE(cudaGetLastError() == cudaSuccess);
  return text;
}

std::string at(int line) {
  return "errors_test.cu:" + std::to_string(line);
}

/// The first of `parts` that `text` does not hold, with the text; "" when it holds all.
std::string missing(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts)
    if (text.find(part) == std::string::npos) return "'" + part + "' in: " + text;
  return "";
}

}  // namespace

TEST_CASE("a barrier that some threads never reach is an error", "[simt][errors]") {
  DeviceArray<float> out(96);
  barrier_for_some<<<3, 32>>>(out.get());
  const std::string text = error_text(cudaErrorLaunchFailure);
  CHECK(missing(text, {"kernel 'barrier_for_some'", "thread (", "barrier divergence", at(barrier_line)}) ==
        "");
  two_barriers<<<1, 32>>>(out.get());
  CHECK(missing(error_text(cudaErrorLaunchFailure),
                {"barrier divergence", at(branches_line), at(branches_line + 2)}) == "");
}

TEST_CASE("a shuffle that names exited, absent or wrong lanes is an error", "[simt][errors]") {
  DeviceArray<float> out(64);
  shuffle_after_exit<<<1, 32>>>(out.get());
  CHECK(missing(error_text(cudaErrorLaunchFailure),
                {"kernel 'shuffle_after_exit' block (0,0,0)", "has exited"}) == "");
  shuffle_after_exit<<<1, 20>>>(out.get());
  CHECK(missing(error_text(cudaErrorLaunchFailure), {"lane 20, which does not exist in this block"}) == "");
  shuffle_without_self<<<1, 32>>>(out.get());
  CHECK(missing(error_text(cudaErrorLaunchFailure), {"leaves out the calling lane"}) == "");
  shuffle_from_outside<<<1, 32>>>(out.get());
  CHECK(missing(error_text(cudaErrorLaunchFailure), {", which is not in the mask"}) == "");
}

TEST_CASE("a trap names its thread", "[simt][errors]") {
  DeviceArray<float> out(64);
  stops<<<1, 8>>>(out.get());
  CHECK(missing(error_text(cudaErrorLaunchFailure),
                {"kernel 'stops' block (0,0,0) thread (3,0,0)", "__trap()"}) == "");
}

TEST_CASE("a block of more threads than its launch bounds is an error", "[simt][errors]") {
  DeviceArray<float> out(65);
  bounded<<<1, 64>>>(out.get());
  CHECK(out.values()[63] == 1);
  bounded<<<1, dim3(13, 5)>>>(out.get());
  CHECK(missing(error_text(cudaErrorInvalidValue), {"kernel 'bounded'", "65 threads, over the 64"}) == "");
}

TEST_CASE("an exception that leaves a kernel is an error of the launch", "[simt][errors]") {
  DeviceArray<float> out(64);
  throws<<<2, 8>>>(out.get());
  CHECK(missing(error_text(cudaErrorLaunchFailure), {"kernel 'throws' block (", "thread (2,0,0)",
                                                     "an exception left the kernel: not done: 06.2"}) == "");
}

TEST_CASE("uninitialised shared memory is NaN", "[simt][errors]") {
  DeviceArray<float> out(1);
  uninitialised<<<1, 1>>>(out.get());
  REQUIRE(std::isnan(out.values()[0]));
}

TEST_CASE("static and dynamic shared memory over the limit of both is an error", "[simt][errors]") {
  DeviceArray<float> out(32);
  static_and_dynamic<<<1, 32, 32 * 1024 + 4>>>(out.get());
  CHECK(missing(error_text(cudaErrorInvalidConfiguration),
                {"16384 bytes of static and 32772 of dynamic shared memory; the limit of both is 49152"}) ==
        "");
}

TEST_CASE("asynchronous copies of wrong sizes, addresses and destinations are errors", "[simt][errors]") {
  DeviceArray<float> in(std::vector<float>(8, 1.0f)), out(8);
  copy_async<<<1, 1>>>(nullptr, in.get(), 12, 0);
  CHECK(missing(error_text(cudaErrorLaunchFailure), {"4, 8 or 16 bytes", at(copy_line)}) == "");
  copy_async<<<1, 1>>>(nullptr, in.get() + 1, 8, 0);
  CHECK(missing(error_text(cudaErrorMisalignedAddress), {"multiples of the size", at(copy_line)}) == "");
  copy_async<<<1, 1>>>(nullptr, in.get(), 16, 8);
  CHECK(missing(error_text(cudaErrorIllegalAddress), {"not in the block's shared memory", at(copy_line)}) ==
        "");
  copy_async<<<1, 1>>>(out.get(), in.get(), 4, 0);
  CHECK(missing(error_text(cudaErrorIllegalAddress), {"not in the block's shared memory"}) == "");
}

TEST_CASE("what an asynchronous copy brings is not there before the wait", "[simt][errors]") {
  DeviceArray<float> in(std::vector<float>{5.0f}), out(1);
  for (const bool commit : {true, false}) {
    waits_for_nothing<<<1, 1>>>(in.get(), out.get(), commit);
    CHECK(std::isnan(out.values()[0]));
  }
}

TEST_CASE("an error stays until it is cleared, and launches do nothing meanwhile", "[simt][errors]") {
  DeviceArray<float> out(std::vector<float>(8, 0.0f));
  stops<<<1, 8>>>(out.get());
  uninitialised<<<1, 1>>>(out.get());
  void* p = nullptr;
  REQUIRE(cudaMalloc(&p, 16) == cudaErrorLaunchFailure);
  REQUIRE(cudaGetLastError() == cudaErrorLaunchFailure);
  REQUIRE(cudaGetLastError() == cudaErrorLaunchFailure);
  simt::clear_errors();
  REQUIRE_FALSE(std::isnan(out.values()[0]));
}

TEST_CASE("copies past an allocation, double frees and foreign pointers are refused", "[simt][errors]") {
  float* p = nullptr;
  REQUIRE(cudaMalloc(&p, 64) == cudaSuccess);
  std::vector<char> host(128);
  REQUIRE(cudaMemcpy(p, host.data(), 65, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  CHECK(missing(cudaGetErrorString(cudaGetLastError()),
                {"65 bytes from offset 0 of an allocation of 64 bytes"}) == "");
  REQUIRE(cudaMemset(p + 8, 0, 33) == cudaErrorInvalidValue);
  REQUIRE(cudaFree(p + 1) == cudaErrorInvalidValue);
  REQUIRE(cudaFree(p) == cudaSuccess);
  REQUIRE(cudaFree(p) == cudaErrorInvalidValue);
  REQUIRE(cudaMemcpy(nullptr, host.data(), 4, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  simt::clear_errors();
}

// A sanitizer that is linked reports these in its own way and place.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define RUNG_SANITIZED 1
#endif
#endif
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(RUNG_SANITIZED)
TEST_CASE("misaligned vectors and indices past a shared array are errors", "[simt][errors]") {
  DeviceArray<float> out(64);
  misaligned<<<1, 1>>>(out.get());
  CHECK(missing(error_text(cudaErrorMisalignedAddress),
                {"kernel 'misaligned'", at(misaligned_line), "multiple of 16"}) == "");
  past_a_row<<<1, 4>>>(out.get(), 8);
  CHECK(missing(error_text(cudaErrorIllegalAddress), {"kernel 'past_a_row'", "index 8", at(row_line)}) == "");
  past_dynamic<<<1, 1, 16>>>(out.get(), 4);
  CHECK(missing(error_text(cudaErrorIllegalAddress),
                {"a write past shared 'dynamic shared memory' (16 bytes)"}) == "");
}
#endif

#endif
