// How fast the emulator runs: barriers, shuffles, threads, launches, products; CPU time of the calling
// thread, best of three. One core, as docs/emulator.md quotes it: RUNG_SIMT_THREADS=1 rung_simt_speed
#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <ctime>

namespace {

double cpu_seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

template <class Function>
double best_seconds(Function function) {
  double best = 1e9;
  for (int i = 0; i < 3; ++i) {
    const double start = cpu_seconds();
    function();
    best = std::min(best, cpu_seconds() - start);
  }
  return best;
}

__global__ void barriers(float* y, int n) {
  __shared__ float s[1024];
  for (int i = 0; i < n; ++i) {
    s[threadIdx.x] = static_cast<float>(i);
    __syncthreads();
  }
  y[blockIdx.x * blockDim.x + threadIdx.x] = s[threadIdx.x];
}

__global__ void shuffles(float* y, int n) {
  float v = static_cast<float>(threadIdx.x);
  for (int i = 0; i < n; ++i) v = __shfl_xor_sync(0xffffffffu, v, 1);
  y[blockIdx.x * blockDim.x + threadIdx.x] = v;
}

__global__ void scale(float* y, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) y[i] = static_cast<float>(i) * 2.0f;
}

/// One warp a row: y (n) = w (n x k) * x (k).
__global__ void gemv(const float* w, const float* x, float* y, int n, int k) {
  const int row = static_cast<int>(blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32);
  const int lane = static_cast<int>(threadIdx.x % 32);
  if (row >= n) return;
  float sum = 0;
  for (int i = lane; i < k; i += 32)
    sum += w[static_cast<size_t>(row) * static_cast<size_t>(k) + static_cast<size_t>(i)] * x[i];
  for (unsigned d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
  if (lane == 0) y[row] = sum;
}

}  // namespace

int main() {
  constexpr int n = 1024, elements = n * n;
  float *w = nullptr, *x = nullptr, *y = nullptr;
  if (cudaMalloc(&w, elements * sizeof(float)) != cudaSuccess ||
      cudaMalloc(&x, n * sizeof(float)) != cudaSuccess ||
      cudaMalloc(&y, elements * sizeof(float)) != cudaSuccess) {
    std::fprintf(stderr, "no memory\n");
    return 1;
  }
  cudaMemset(w, 0, elements * sizeof(float));
  cudaMemset(x, 0, n * sizeof(float));
  const int rounds = 200, blocks = 64;
  for (int threads : {32, 64, 256, 1024}) {
    const double count = static_cast<double>(rounds) * blocks * threads;
    std::printf("barrier, block of %4d   %6.1f ns a thread\n", threads,
                best_seconds([&] { barriers<<<blocks, threads>>>(y, rounds); }) / count * 1e9);
    std::printf("shuffle, block of %4d   %6.1f ns a lane\n", threads,
                best_seconds([&] { shuffles<<<blocks, threads>>>(y, rounds); }) / count * 1e9);
  }
  std::printf("element-wise kernel      %6.1f ns a thread\n",
              best_seconds([&] { scale<<<elements / 256, 256>>>(y, elements); }) / elements * 1e9);
  std::printf("launch, one block of 32  %6.2f us\n", best_seconds([&] {
                                                       for (int i = 0; i < 1000; ++i) scale<<<1, 32>>>(y, 32);
                                                     }) * 1e3);
  std::printf("warp-per-row GEMV        %6.1f MFLOP/s\n",
              2.0 * elements / best_seconds([&] { gemv<<<n / 8, 256>>>(w, x, y, n, n); }) / 1e6);
  cublasHandle_t handle;
  cublasCreate(&handle);
  const float one = 1, zero = 0;
  std::printf("cublasSgemm, 512^3       %6.2f GFLOP/s\n", 2.0 * 512 * 512 * 512 / best_seconds([&] {
                                                            cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, 512,
                                                                        512, 512, &one, w, 512, w + 512 * 512,
                                                                        512, &zero, y, 512);
                                                          }) / 1e9);
  std::printf("cublasSgemm, one column  %6.2f GFLOP/s\n", 2.0 * elements / best_seconds([&] {
                                                            cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, n,
                                                                        1, n, &one, w, n, x, n, &zero, y, n);
                                                          }) / 1e9);
  cublasDestroy(handle);
  const cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  cudaFree(w);
  cudaFree(x);
  cudaFree(y);
  return error == cudaSuccess ? 0 : 1;
}
