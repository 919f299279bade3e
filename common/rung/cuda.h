// CUDA plumbing: every call checked, device memory and streams that free themselves. Includes the toolkit's
// headers or the emulator's, which have the same names.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <memory>

namespace rung {

// True where kernels run in the emulator: measurements and tests then use small shapes, so that they end.
#ifdef RUNG_CUDA_EMULATED
inline constexpr bool kCudaEmulated = true;
#else
inline constexpr bool kCudaEmulated = false;
#endif

// Throws Error naming call, file and line unless status is success.
void check_cuda(cudaError_t status, const char* call, const char* file, int line);
void check_cublas(cublasStatus_t status, const char* call, const char* file, int line);

#define RUNG_CUDA_CHECK(call) ::rung::check_cuda((call), #call, __FILE__, __LINE__)
#define RUNG_CUBLAS_CHECK(call) ::rung::check_cublas((call), #call, __FILE__, __LINE__)

// Stands right after a kernel launch: reports a launch that was refused.
#define RUNG_CUDA_CHECK_LAUNCH(kernel) \
  ::rung::check_cuda(cudaGetLastError(), "launch of " kernel, __FILE__, __LINE__)

// Number of CUDA devices that answer; 0 where there is none.
int cuda_device_count();

// bytes of uninitialised device memory (at least one is allocated). Throws Error with the size and what is
// free.
std::shared_ptr<void> allocate_device(size_t bytes);

// bytes of host memory that the device copies from and to without a detour (at least one is allocated).
std::shared_ptr<void> allocate_pinned(size_t bytes);

class CudaEvent {
 public:
  CudaEvent();
  ~CudaEvent();
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;
  void record(cudaStream_t stream);
  void wait();  // until the work queued before record() is done; returns at once if nothing was recorded
  // Waits for this event, then gives the time since an earlier one.
  double milliseconds_since(const CudaEvent& earlier);

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace rung
