// CUDA's and cuBLAS's status codes as errors, device memory and events.
#include "rung/cuda.h"

#include <algorithm>

#include "rung/error.h"

namespace rung {

void check_cuda(cudaError_t status, const char* call, const char* file, int line) {
  if (status == cudaSuccess) return;
  fail("CUDA: ", cudaGetErrorName(status), " (", cudaGetErrorString(status), ") from ", call, " at ", file,
       ":", line);
}

void check_cublas(cublasStatus_t status, const char* call, const char* file, int line) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  fail("cuBLAS: ", cublasGetStatusString(status), " from ", call, " at ", file, ":", line);
}

int cuda_device_count() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    cudaGetLastError();
    return 0;
  }
  return count;
}

std::shared_ptr<void> allocate_device(size_t bytes) {
  void* memory = nullptr;
  const cudaError_t status = cudaMalloc(&memory, std::max<size_t>(bytes, 1));
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    size_t free_bytes = 0, total_bytes = 0;
    RUNG_CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
    fail("out of device memory: ", bytes, " bytes asked for, ", free_bytes, " of ", total_bytes, " free");
  }
  RUNG_CUDA_CHECK(status);
  return std::shared_ptr<void>(memory, [](void* pointer) { cudaFree(pointer); });
}

std::shared_ptr<void> allocate_pinned(size_t bytes) {
  void* memory = nullptr;
  RUNG_CUDA_CHECK(cudaMallocHost(&memory, std::max<size_t>(bytes, 1)));
  return std::shared_ptr<void>(memory, [](void* pointer) { cudaFreeHost(pointer); });
}

CudaEvent::CudaEvent() {
  RUNG_CUDA_CHECK(cudaEventCreate(&event_));
}
CudaEvent::~CudaEvent() {
  cudaEventDestroy(event_);
}
void CudaEvent::record(cudaStream_t stream) {
  RUNG_CUDA_CHECK(cudaEventRecord(event_, stream));
}
void CudaEvent::wait() {
  RUNG_CUDA_CHECK(cudaEventSynchronize(event_));
}
double CudaEvent::milliseconds_since(const CudaEvent& earlier) {
  RUNG_CUDA_CHECK(cudaEventSynchronize(event_));
  float milliseconds = 0;
  RUNG_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, earlier.event_, event_));
  return milliseconds;
}

}  // namespace rung
