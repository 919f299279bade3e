// What a CUDA device needs before its first operation: stream, cuBLAS handle, workspace.
#include "rung/device.h"

#include "rung/error.h"
#include "rung/memory.h"
#include "rung/table.h"

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

uint64_t available_memory(const Cpu&) {
  return available_memory();
}

uint64_t available_memory(const Cuda&) {
  if (kCudaEmulated) return available_memory();  // the emulator's device memory is the host's
  size_t free_bytes = 0, total_bytes = 0;
  RUNG_CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
  return free_bytes;
}

namespace {

void require_memory(const std::string& what, uint64_t bytes, uint64_t available, const char* where) {
  if (bytes <= available) return;
  fail("not enough memory: ", what, ": ", human_bytes(static_cast<double>(bytes)), " needed, ",
       human_bytes(static_cast<double>(available)), " available on ", where);
}

}  // namespace

void check_memory(const Cpu& device, const std::string& what, uint64_t bytes) {
  require_memory(what, bytes, available_memory(device), "this machine");
}

void check_memory(const Cuda& device, const std::string& what, uint64_t bytes) {
  require_memory(what, bytes, available_memory(device),
                 kCudaEmulated ? "this machine" : device.properties().name);
}

}  // namespace rung
