// Device queries and the limits of kernels.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>
#include <mutex>
#include <string>

#include "device.h"
#include "error.h"
#include "pool.h"
#include "simt/thread.h"

namespace simt {
namespace {

struct SharedLimits {
  std::mutex mutex;
  std::map<const void*, std::size_t> bytes;  // of kernels that have one of their own
};
SharedLimits& shared_limits() {
  static SharedLimits* instance = new SharedLimits;
  return *instance;
}

/// The number behind `key` in a file of words, or `otherwise`.
std::size_t number_in(const char* path, const std::string& key, std::size_t otherwise) {
  std::ifstream in(path);
  std::string word;
  std::size_t number = 0;
  if (key.empty()) return in >> number ? number : otherwise;
  while (in >> word)
    if (word == key) return in >> number ? number : otherwise;
  return otherwise;
}

/// Bytes that the machine, or the control group that the process is in, can still give.
std::size_t available_memory() {
  constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
  const std::size_t machine = number_in("/proc/meminfo", "MemAvailable:", std::size_t{1} << 20) * 1024;
  const std::size_t limit = number_in("/sys/fs/cgroup/memory.max", "", none);
  const std::size_t used = number_in("/sys/fs/cgroup/memory.current", "", 0);
  return limit == none ? machine : std::min(machine, limit > used ? limit - used : 0);
}

}  // namespace

std::size_t dynamic_shared_limit(const void* function) {
  SharedLimits& limits = shared_limits();
  std::lock_guard<std::mutex> lock(limits.mutex);
  if (function != nullptr) {
    const auto it = limits.bytes.find(function);
    return it == limits.bytes.end() ? max_shared_default : it->second;
  }
  std::size_t most = max_shared_default;
  for (const auto& entry : limits.bytes) most = std::max(most, entry.second);
  return most;
}

std::size_t device_memory() {
  static const std::size_t bytes = [] {
    const char* text = std::getenv("RUNG_SIMT_MEMORY_MB");
    const long long megabytes = text == nullptr ? 0 : std::strtoll(text, nullptr, 10);
    return megabytes > 0 ? static_cast<std::size_t>(megabytes) << 20 : available_memory();
  }();
  return bytes;
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
cudaError_t cudaDeviceReset() {
  simt::free_all_device_memory();
  {
    std::lock_guard<std::mutex> lock(simt::shared_limits().mutex);
    simt::shared_limits().bytes.clear();
  }
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
  p->totalGlobalMem = simt::device_memory();
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
  *total = simt::device_memory();
  *free = *total - simt::device_memory_used();
  return report(cudaSuccess);
}

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  if (function == nullptr) return report(cudaErrorInvalidDeviceFunction);
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return report(cudaSuccess);
  if (value < 0 || static_cast<std::size_t>(value) > simt::max_shared_optin)
    return report(cudaErrorInvalidValue, std::to_string(value) + " bytes of dynamic shared memory; at most " +
                                             std::to_string(simt::max_shared_optin) + " are possible");
  simt::SharedLimits& limits = simt::shared_limits();
  std::lock_guard<std::mutex> lock(limits.mutex);
  limits.bytes[function] = static_cast<std::size_t>(value);
  return report(cudaSuccess);
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  if (function == nullptr) return report(cudaErrorInvalidDeviceFunction);
  *attributes = cudaFuncAttributes{};
  attributes->maxThreadsPerBlock = static_cast<int>(simt::max_threads_per_block);
  attributes->maxDynamicSharedSizeBytes = static_cast<int>(simt::dynamic_shared_limit(function));
  attributes->ptxVersion = attributes->binaryVersion = 90;
  return report(cudaSuccess);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int block_size,
                                                          std::size_t shared_bytes) {
  if (block_size <= 0 || block_size > static_cast<int>(simt::max_threads_per_block))
    return report(cudaErrorInvalidValue);
  constexpr std::size_t shared_of_multiprocessor = 228 * 1024, reserved = 1024;  // of each block
  const int by_threads = 2048 / ((block_size + 31) / 32 * 32);
  const int by_shared = static_cast<int>(shared_of_multiprocessor / (shared_bytes + reserved));
  *blocks = std::min({by_threads, by_shared, 32});
  return report(cudaSuccess);
}
