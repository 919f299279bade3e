// Device queries, streams and events.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>

#include "device.h"
#include "error.h"
#include "pool.h"
#include "simt/thread.h"

struct CUstream_st {
  int unused = 0;
};

struct CUevent_st {
  std::chrono::steady_clock::time_point time;
  bool recorded = false;
};

namespace simt {
namespace {

std::atomic<std::size_t> shared_limit{max_shared_default};

std::size_t physical_memory(int name) {
  const long pages = sysconf(name);
  const long page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(page)
                               : std::size_t{1} << 30;
}

}  // namespace

std::size_t dynamic_shared_limit() {
  return shared_limit.load();
}

cudaError_t set_function_attribute(cudaFuncAttribute attribute, int value) {
  if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) {
    if (value < 0 || static_cast<std::size_t>(value) > max_shared_optin) return report(cudaErrorInvalidValue);
    if (static_cast<std::size_t>(value) > shared_limit.load())
      shared_limit.store(static_cast<std::size_t>(value));
  }
  return report(cudaSuccess);
}

cudaError_t occupancy(int* blocks, int block_size, std::size_t shared_bytes) {
  if (block_size <= 0 || block_size > static_cast<int>(max_threads_per_block))
    return report(cudaErrorInvalidValue);
  const int by_threads = 2048 / ((block_size + 31) / 32 * 32);
  const int by_shared = shared_bytes == 0 ? 32 : static_cast<int>(max_shared_optin / (shared_bytes + 1024));
  *blocks = by_threads < by_shared ? by_threads : by_shared;
  if (*blocks > 32) *blocks = 32;
  return report(cudaSuccess);
}

long long clock_ticks() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace simt

using simt::report;

cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return report(cudaSuccess);
}
cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return report(cudaSuccess);
}
cudaError_t cudaSetDevice(int device) {
  return report(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}
cudaError_t cudaSetDeviceFlags(unsigned) {
  return report(cudaSuccess);
}
cudaError_t cudaDeviceSynchronize() {
  return report(cudaSuccess);
}
cudaError_t cudaDeviceReset() {
  simt::free_all_device_memory();
  simt::shared_limit.store(simt::max_shared_default);
  simt::clear_errors();
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return report(cudaSuccess);
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  return cudaDriverGetVersion(version);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int device) {
  if (device != 0) return report(cudaErrorInvalidDevice);
  *p = cudaDeviceProp{};
  std::snprintf(p->name, sizeof(p->name), "emulated CUDA (%d thread%s)", simt::pool_threads(),
                simt::pool_threads() == 1 ? "" : "s");
  p->totalGlobalMem = simt::physical_memory(_SC_PHYS_PAGES);
  p->sharedMemPerBlock = simt::max_shared_default;
  p->sharedMemPerBlockOptin = simt::max_shared_optin;
  p->sharedMemPerMultiprocessor = 228 * 1024;
  p->totalConstMem = 64 * 1024;
  p->memPitch = 2147483647;
  p->regsPerBlock = p->regsPerMultiprocessor = 65536;
  p->warpSize = 32;
  p->maxThreadsPerBlock = 1024;
  p->maxThreadsPerMultiProcessor = 2048;
  p->maxBlocksPerMultiProcessor = 32;
  p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024;
  p->maxThreadsDim[2] = 64;
  p->maxGridSize[0] = 2147483647;
  p->maxGridSize[1] = p->maxGridSize[2] = 65535;
  p->major = 9;
  p->minor = 0;
  p->multiProcessorCount = simt::pool_threads();
  p->memoryBusWidth = 64;
  p->l2CacheSize = 1 << 20;
  p->integrated = p->canMapHostMemory = p->concurrentKernels = p->unifiedAddressing = p->managedMemory = 1;
  return report(cudaSuccess);
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  if (device != 0) return report(cudaErrorInvalidDevice);
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY:
      *value = 1024;
      break;
    case cudaDevAttrMaxBlockDimZ:
      *value = 64;
      break;
    case cudaDevAttrMaxGridDimX:
      *value = 2147483647;
      break;
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ:
      *value = 65535;
      break;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      *value = static_cast<int>(simt::max_shared_default);
      break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = static_cast<int>(simt::max_shared_optin);
      break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      *value = 228 * 1024;
      break;
    case cudaDevAttrTotalConstantMemory:
      *value = 64 * 1024;
      break;
    case cudaDevAttrWarpSize:
      *value = 32;
      break;
    case cudaDevAttrMaxRegistersPerBlock:
      *value = 65536;
      break;
    case cudaDevAttrClockRate:
    case cudaDevAttrMemoryClockRate:
      *value = 1000000;
      break;
    case cudaDevAttrMultiProcessorCount:
      *value = simt::pool_threads();
      break;
    case cudaDevAttrGlobalMemoryBusWidth:
      *value = 64;
      break;
    case cudaDevAttrL2CacheSize:
      *value = 1 << 20;
      break;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      *value = 2048;
      break;
    case cudaDevAttrComputeCapabilityMajor:
      *value = 9;
      break;
    case cudaDevAttrComputeCapabilityMinor:
    case cudaDevAttrAsyncEngineCount:
    case cudaDevAttrCooperativeLaunch:
      *value = 0;
      break;
    case cudaDevAttrIntegrated:
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrManagedMemory:
    case cudaDevAttrMemoryPoolsSupported:
      *value = 1;
      break;
    default:
      return report(cudaErrorInvalidValue);
  }
  return report(cudaSuccess);
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  *free = simt::physical_memory(_SC_AVPHYS_PAGES);
  *total = simt::physical_memory(_SC_PHYS_PAGES);
  return report(cudaSuccess);
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  *stream = new CUstream_st;
  return report(cudaSuccess);
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  return cudaStreamCreate(stream);
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int) {
  return cudaStreamCreate(stream);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  if (stream == nullptr) return report(cudaErrorInvalidResourceHandle);
  delete stream;
  return report(cudaSuccess);
}
cudaError_t cudaStreamSynchronize(cudaStream_t) {
  return report(cudaSuccess);
}
cudaError_t cudaStreamQuery(cudaStream_t) {
  return report(cudaSuccess);
}
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t event, unsigned) {
  return report(event == nullptr ? cudaErrorInvalidResourceHandle : cudaSuccess);
}
cudaError_t cudaLaunchHostFunc(cudaStream_t, void (*function)(void*), void* argument) {
  function(argument);
  return report(cudaSuccess);
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = new CUevent_st;
  return report(cudaSuccess);
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  return cudaEventCreate(event);
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  if (event == nullptr) return report(cudaErrorInvalidResourceHandle);
  delete event;
  return report(cudaSuccess);
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  if (event == nullptr) return report(cudaErrorInvalidResourceHandle);
  event->time = std::chrono::steady_clock::now();
  event->recorded = true;
  return report(cudaSuccess);
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return report(event == nullptr ? cudaErrorInvalidResourceHandle : cudaSuccess);
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  return cudaEventSynchronize(event);
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t stop) {
  if (start == nullptr || stop == nullptr || !start->recorded || !stop->recorded)
    return report(cudaErrorInvalidResourceHandle);
  *milliseconds = std::chrono::duration<float, std::milli>(stop->time - start->time).count();
  return report(cudaSuccess);
}
