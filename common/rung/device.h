// The two kinds of machine that an operation runs on. Operations are overloaded on them: rms_norm(Cpu&, …)
// and rms_norm(Cuda&, …) do the same thing.
#pragma once

#include <cstdint>
#include <string>

#include "rung/cuda.h"
#include "rung/thread_pool.h"

namespace rung {

// The host's cores.
class Cpu {
 public:
  explicit Cpu(int threads = 0) : pool(threads) {}
  static constexpr const char* kName = "cpu";
  ThreadPool pool;
};

// One GPU (or the emulator): device 0, one stream on which all work is queued in order, one cuBLAS handle.
class Cuda {
 public:
  Cuda();  // throws Error where no device answers
  ~Cuda();
  Cuda(const Cuda&) = delete;
  Cuda& operator=(const Cuda&) = delete;
  static constexpr const char* kName = "cuda";

  cudaStream_t stream() const { return stream_; }
  cublasHandle_t cublas() const { return cublas_; }
  const cudaDeviceProp& properties() const { return properties_; }
  // Scratch memory of at least that size, aligned to 256 bytes: what the last caller wrote is lost. Grows
  // when more is asked for than ever before; work queued before may still use it, since all of it is on one
  // stream.
  void* workspace(size_t bytes);
  // Operations keep to algorithms that give a row the same bits whatever other rows are computed with it.
  // (Those of the emulator always do.)
  bool batch_invariant = false;
  void synchronize() const { RUNG_CUDA_CHECK(cudaStreamSynchronize(stream_)); }

 private:
  cudaStream_t stream_ = nullptr;
  cublasHandle_t cublas_ = nullptr;
  cudaDeviceProp properties_{};
  std::shared_ptr<void> workspace_;
  size_t workspace_bytes_ = 0;
};

// Bytes of memory that the device can still give. On Cpu as rung/memory.h counts them.
uint64_t available_memory(const Cpu& device);
uint64_t available_memory(const Cuda& device);

// Throws Error naming both numbers unless the device has `bytes` of memory available for `what`, such as "the
// weights".
void check_memory(const Cpu& device, const std::string& what, uint64_t bytes);
void check_memory(const Cuda& device, const std::string& what, uint64_t bytes);

}  // namespace rung
