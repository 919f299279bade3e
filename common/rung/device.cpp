// What a CUDA device needs before its first operation: stream, cuBLAS handle, workspace.
#include "rung/device.h"

#include "rung/error.h"

namespace rung {

Cuda::Cuda() {
  if (cuda_device_count() == 0) fail("no CUDA device answers: use --device cpu");
  RUNG_CUDA_CHECK(cudaSetDevice(0));
  RUNG_CUDA_CHECK(cudaGetDeviceProperties(&properties_, 0));
  RUNG_CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  RUNG_CUBLAS_CHECK(cublasCreate(&cublas_));
  RUNG_CUBLAS_CHECK(cublasSetStream(cublas_, stream_));
}

void* Cuda::workspace(size_t bytes) {
  if (bytes > workspace_bytes_) {
    synchronize();
    workspace_.reset();
    workspace_bytes_ = 0;
    workspace_ = allocate_device(bytes);
    workspace_bytes_ = bytes;
  }
  return workspace_.get();
}

Cuda::~Cuda() {
  cublasDestroy(cublas_);
  cudaStreamDestroy(stream_);
}

}  // namespace rung
