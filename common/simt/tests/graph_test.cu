// Stream capture and graphs: what is recorded, with which arguments, and what must not come while a stream
// captures.
#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <numeric>

#include "device_array.h"
#include "testing/catch.h"

using simt_tests::check;
using simt_tests::DeviceArray;

namespace {

__global__ void add(int* values, int n, int amount) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) values[i] += amount;
}

__global__ void reverse(int* values) {
  extern __shared__ int copy[];
  copy[threadIdx.x] = values[threadIdx.x];
  __syncthreads();
  values[threadIdx.x] = copy[blockDim.x - 1 - threadIdx.x];
}

struct Stream {
  cudaStream_t stream = nullptr;
  explicit Stream(unsigned flags = cudaStreamNonBlocking) {
    check(cudaStreamCreateWithFlags(&stream, flags));
  }
  ~Stream() { cudaStreamDestroy(stream); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
};

/// What `work` gives `stream`, as a graph that can be launched.
template <class Work>
cudaGraphExec_t captured(cudaStream_t stream, std::size_t nodes, Work work) {
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  work();
  cudaGraph_t graph = nullptr;
  check(cudaStreamEndCapture(stream, &graph));
  std::size_t count = 0;
  check(cudaGraphGetNodes(graph, nullptr, &count));
  CHECK(count == nodes);
  cudaGraphExec_t executable = nullptr;
  check(cudaGraphInstantiate(&executable, graph));
  check(cudaGraphDestroy(graph));
  return executable;
}

}  // namespace

TEST_CASE("a capture runs nothing; each launch of its graph runs everything in order", "[simt]") {
  Stream s;
  DeviceArray<int> values(std::vector<int>{1, 2, 3, 4});
  int amount = 10;
  const cudaGraphExec_t graph = captured(s.stream, 3, [&] {
    add<<<1, 4, 0, s.stream>>>(values.get(), 4, amount);
    reverse<<<1, 4, 4 * sizeof(int), s.stream>>>(values.get());
    add<<<1, 4, 0, s.stream>>>(values.get(), 1, 100);
  });
  amount = 0;  // the argument's value was recorded
  CHECK(values.values() == std::vector<int>{1, 2, 3, 4});
  check(cudaGraphLaunch(graph, s.stream));
  check(cudaStreamSynchronize(s.stream));
  CHECK(values.values() == std::vector<int>{114, 13, 12, 11});
  check(cudaGraphLaunch(graph, s.stream));
  check(cudaGraphLaunch(graph, s.stream));
  check(cudaStreamSynchronize(s.stream));
  CHECK(values.values() == std::vector<int>{234, 33, 32, 131});
  check(cudaGraphExecDestroy(graph));
}

TEST_CASE("copies and memsets are nodes that read their memory when the graph runs", "[simt]") {
  Stream s;
  int* pinned = nullptr;
  check(cudaMallocHost(&pinned, 8 * sizeof(int)));
  std::iota(pinned, pinned + 8, 0);
  DeviceArray<int> a(4), b(std::vector<int>(16, 7)), c(std::vector<int>(6, 9));
  const cudaGraphExec_t graph = captured(s.stream, 5, [&] {
    check(cudaMemcpyAsync(a.get(), pinned, 4 * sizeof(int), cudaMemcpyHostToDevice, s.stream));
    check(cudaMemsetAsync(c.get(), 0, 3 * sizeof(int), s.stream));
    add<<<1, 4, 0, s.stream>>>(a.get(), 4, 1);
    check(cudaMemcpy2DAsync(b.get(), 4 * sizeof(int), a.get(), 2 * sizeof(int), 2 * sizeof(int), 2,
                            cudaMemcpyDeviceToDevice, s.stream));
    check(cudaMemcpyAsync(pinned + 4, a.get(), 4 * sizeof(int), cudaMemcpyDeviceToHost, s.stream));
  });
  for (int i = 0; i < 4; ++i) pinned[i] = 10 * i;
  check(cudaGraphLaunch(graph, s.stream));
  check(cudaStreamSynchronize(s.stream));
  CHECK(std::vector<int>(pinned + 4, pinned + 8) == std::vector<int>{1, 11, 21, 31});
  CHECK(b.values() == std::vector<int>{1, 11, 7, 7, 21, 31, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7});
  CHECK(c.values() == std::vector<int>{0, 0, 0, 9, 9, 9});
  check(cudaGraphExecDestroy(graph));
  check(cudaFreeHost(pinned));
}

TEST_CASE("cuBLAS's products are captured with the values of alpha and beta", "[simt]") {
  Stream s;
  cublasHandle_t handle = nullptr;
  REQUIRE(cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS);
  REQUIRE(cublasSetStream(handle, s.stream) == CUBLAS_STATUS_SUCCESS);
  void* workspace = nullptr;  // a product that allocates could not be captured
  check(cudaMalloc(&workspace, 32 << 20));
  REQUIRE(cublasSetWorkspace(handle, workspace, 32 << 20) == CUBLAS_STATUS_SUCCESS);
  DeviceArray<float> a(std::vector<float>{1, 2, 3, 4}), b(std::vector<float>{1, 0, 0, 1}),
      c(std::vector<float>(4, 0.0f));
  float alpha = 2, beta = 1;
  const cudaGraphExec_t graph = captured(s.stream, 1, [&] {
    REQUIRE(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &alpha, a.get(), 2, b.get(), 2, &beta,
                        c.get(), 2) == CUBLAS_STATUS_SUCCESS);
  });
  alpha = 100;
  CHECK(c.values() == std::vector<float>(4, 0.0f));
  check(cudaGraphLaunch(graph, s.stream));
  check(cudaGraphLaunch(graph, s.stream));
  check(cudaStreamSynchronize(s.stream));
  CHECK(c.values() == std::vector<float>{4, 8, 12, 16});
  check(cudaGraphExecDestroy(graph));
  check(cudaFree(workspace));
  REQUIRE(cublasDestroy(handle) == CUBLAS_STATUS_SUCCESS);
}

TEST_CASE("an executable graph takes over the arguments of a graph of the same shape", "[simt]") {
  Stream s;
  DeviceArray<int> values(std::vector<int>{0, 0, 0});
  const cudaGraphExec_t graph =
      captured(s.stream, 1, [&] { add<<<1, 3, 0, s.stream>>>(values.get(), 3, 1); });
  const auto again = [&](auto work) {
    check(cudaStreamBeginCapture(s.stream, cudaStreamCaptureModeRelaxed));
    work();
    cudaGraph_t update = nullptr;
    check(cudaStreamEndCapture(s.stream, &update));
    cudaGraphExecUpdateResultInfo info{};
    const cudaError_t error = cudaGraphExecUpdate(graph, update, &info);
    cudaGetLastError();
    CHECK((error == cudaSuccess) == (info.result == cudaGraphExecUpdateSuccess));
    check(cudaGraphDestroy(update));
    return error;
  };
  CHECK(again([&] { add<<<1, 3, 0, s.stream>>>(values.get(), 2, 5); }) == cudaSuccess);
  check(cudaGraphLaunch(graph, s.stream));
  check(cudaStreamSynchronize(s.stream));
  CHECK(values.values() == std::vector<int>{5, 5, 0});
  CHECK(again([&] {
          add<<<1, 3, 0, s.stream>>>(values.get(), 2, 5);
          add<<<1, 3, 0, s.stream>>>(values.get(), 2, 5);
        }) == cudaErrorGraphExecUpdateFailure);
  CHECK(again([&] { check(cudaMemsetAsync(values.get(), 0, 8, s.stream)); }) ==
        cudaErrorGraphExecUpdateFailure);
  check(cudaGraphExecDestroy(graph));
}

TEST_CASE("calls that wait or allocate spoil a capture", "[simt]") {
  Stream s;
  DeviceArray<int> values(4);
  const auto spoiled = [&](cudaStream_t stream, auto call) {
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    add<<<1, 4, 0, stream>>>(values.get(), 4, 1);
    CHECK(call() != cudaSuccess);
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    check(cudaStreamIsCapturing(stream, &status));
    CHECK(status == cudaStreamCaptureStatusInvalidated);
    cudaGraph_t graph = nullptr;
    CHECK(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated);
    CHECK(graph == nullptr);
    cudaGetLastError();
    check(cudaStreamIsCapturing(stream, &status));
    CHECK(status == cudaStreamCaptureStatusNone);
  };
  spoiled(s.stream, [&] { return cudaStreamSynchronize(s.stream); });
  spoiled(s.stream, [&] { return cudaDeviceSynchronize(); });
  spoiled(s.stream, [&] {
    void* memory = nullptr;
    return cudaMalloc(&memory, 1000);
  });
  Stream blocking(cudaStreamDefault);
  spoiled(blocking.stream, [&] {
    add<<<1, 4>>>(values.get(), 4, 1);
    return cudaGetLastError();
  });
  check(cudaStreamSynchronize(s.stream));
}

TEST_CASE("a capture needs a stream of its own, a beginning and an end", "[simt]") {
  Stream s;
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal) == cudaErrorStreamCaptureUnsupported);
  CHECK(cudaStreamEndCapture(s.stream, &graph) != cudaSuccess);
  check(cudaStreamBeginCapture(s.stream, cudaStreamCaptureModeThreadLocal));
  CHECK(cudaStreamBeginCapture(s.stream, cudaStreamCaptureModeThreadLocal) != cudaSuccess);
  cudaStreamEndCapture(s.stream, &graph);
  if (graph != nullptr) cudaGraphDestroy(graph);
  cudaGetLastError();
}
