// Device memory is the heap, so that AddressSanitizer sees it; new memory is filled with 0xFF, which is NaN. Copies and frees are
// checked against what cudaMalloc gave out.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "device.h"
#include "error.h"
#include "sanitizers.h"

namespace simt {
namespace {

struct Allocation {
  std::size_t bytes = 0;
  cudaMemoryType type = cudaMemoryTypeDevice;
};

struct Registry {
  std::mutex mutex;
  std::map<const char*, Allocation> allocations;  // by first byte

  /// The allocation that holds `pointer`, or end().
  std::map<const char*, Allocation>::iterator find(const void* pointer) {
    const char* p = static_cast<const char*>(pointer);
    auto it = allocations.upper_bound(p);
    if (it == allocations.begin()) return allocations.end();
    --it;
    return p < it->first + it->second.bytes || p == it->first ? it : allocations.end();
  }
};

Registry& registry() {
  static Registry* instance = new Registry;  // outlives static destructors that still free device memory
  return *instance;
}

cudaError_t allocate(void** pointer, std::size_t bytes, cudaMemoryType type) {
  if (pointer == nullptr) return report(cudaErrorInvalidValue);
  if (sticky_error() != cudaSuccess) return sticky_error();
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  std::size_t free_bytes = 0, total = 0;
  cudaMemGetInfo(&free_bytes, &total);
  if (bytes > total)
    return report(cudaErrorMemoryAllocation, std::to_string(bytes) + " bytes asked for, " + std::to_string(total) + " exist");
  void* memory = nullptr;
  if (posix_memalign(&memory, 256, bytes) != 0) return report(cudaErrorMemoryAllocation);
  {
    TsanIgnore ignore;
    std::memset(memory, 0xff, bytes);
  }
  Registry& r = registry();
  std::lock_guard<std::mutex> lock(r.mutex);
  r.allocations[static_cast<const char*>(memory)] = Allocation{bytes, type};
  *pointer = memory;
  return cudaSuccess;
}

cudaError_t release(void* pointer, bool host) {
  if (pointer == nullptr) return report(cudaSuccess);
  {
    Registry& r = registry();
    std::lock_guard<std::mutex> lock(r.mutex);
    const auto it = r.allocations.find(static_cast<const char*>(pointer));
    if (it == r.allocations.end() || (it->second.type == cudaMemoryTypeHost) != host) return report(cudaErrorInvalidValue, "free of a pointer that was not allocated, or twice");
    r.allocations.erase(it);
  }
  std::free(pointer);
  return report(cudaSuccess);
}

/// Whether `bytes` from `pointer` on stay inside the allocation that it points into (host memory is not known here).
bool in_bounds(const void* pointer, std::size_t bytes, bool must_be_device, std::string& detail) {
  Registry& r = registry();
  std::lock_guard<std::mutex> lock(r.mutex);
  const auto it = r.find(pointer);
  if (it == r.allocations.end() || (must_be_device && it->second.type == cudaMemoryTypeHost)) {
    if (must_be_device && it == r.allocations.end()) {
      detail = "the device pointer does not come from cudaMalloc";
      return true;  // a __device__ variable's address is also device memory
    }
    return true;
  }
  const std::size_t offset = static_cast<std::size_t>(static_cast<const char*>(pointer) - it->first);
  if (bytes <= it->second.bytes - offset) return true;
  detail = std::to_string(bytes) + " bytes from offset " + std::to_string(offset) + " of an allocation of " +
           std::to_string(it->second.bytes) + " bytes";
  return false;
}

cudaError_t copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  if (sticky_error() != cudaSuccess) return sticky_error();
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) return report(cudaErrorInvalidMemcpyDirection);
  if (bytes == 0) return cudaSuccess;
  if (to == nullptr || from == nullptr) return report(cudaErrorInvalidValue, "copy with a null pointer");
  std::string detail;
  if (!in_bounds(to, bytes, kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice, detail))
    return report(cudaErrorInvalidValue, "copy to " + detail);
  if (!in_bounds(from, bytes, kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice, detail))
    return report(cudaErrorInvalidValue, "copy from " + detail);
  std::memmove(to, from, bytes);
  return cudaSuccess;
}

cudaError_t set(void* to, int value, std::size_t bytes) {
  if (sticky_error() != cudaSuccess) return sticky_error();
  if (bytes == 0) return cudaSuccess;
  std::string detail;
  if (to == nullptr || !in_bounds(to, bytes, true, detail)) return report(cudaErrorInvalidValue, "memset of " + detail);
  std::memset(to, value, bytes);
  return cudaSuccess;
}

}  // namespace

void free_all_device_memory() {
  Registry& r = registry();
  std::lock_guard<std::mutex> lock(r.mutex);
  for (const auto& entry : r.allocations) std::free(const_cast<char*>(entry.first));
  r.allocations.clear();
}

cudaError_t copy_to_symbol(void* symbol, std::size_t symbol_bytes, const void* from, std::size_t bytes, std::size_t offset) {
  if (offset > symbol_bytes || bytes > symbol_bytes - offset) return report(cudaErrorInvalidValue, "copy past the symbol's end");
  return copy(static_cast<char*>(symbol) + offset, from, bytes, cudaMemcpyDefault);
}

cudaError_t copy_from_symbol(void* to, const void* symbol, std::size_t symbol_bytes, std::size_t bytes, std::size_t offset) {
  if (offset > symbol_bytes || bytes > symbol_bytes - offset) return report(cudaErrorInvalidValue, "copy past the symbol's end");
  return copy(to, static_cast<const char*>(symbol) + offset, bytes, cudaMemcpyDefault);
}

}  // namespace simt

using simt::report;

cudaError_t cudaMalloc(void** pointer, std::size_t bytes) { return simt::allocate(pointer, bytes, cudaMemoryTypeDevice); }
cudaError_t cudaMallocHost(void** pointer, std::size_t bytes, unsigned) { return simt::allocate(pointer, bytes, cudaMemoryTypeHost); }
cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned) { return simt::allocate(pointer, bytes, cudaMemoryTypeHost); }
cudaError_t cudaMallocManaged(void** pointer, std::size_t bytes, unsigned) {
  return simt::allocate(pointer, bytes, cudaMemoryTypeManaged);
}
cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes, cudaStream_t) { return cudaMalloc(pointer, bytes); }
cudaError_t cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width, std::size_t height) {
  *pitch = (width + 511) / 512 * 512;
  return cudaMalloc(pointer, *pitch * height);
}
cudaError_t cudaFree(void* pointer) { return simt::release(pointer, false); }
cudaError_t cudaFreeHost(void* pointer) { return simt::release(pointer, true); }
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t) { return cudaFree(pointer); }
cudaError_t cudaHostRegister(void* pointer, std::size_t bytes, unsigned) {
  return report(pointer == nullptr || bytes == 0 ? cudaErrorInvalidValue : cudaSuccess);
}
cudaError_t cudaHostUnregister(void*) { return report(cudaSuccess); }
cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned) {
  *device = host;
  return report(cudaSuccess);
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  simt::Registry& r = simt::registry();
  std::lock_guard<std::mutex> lock(r.mutex);
  const auto it = r.find(pointer);
  *attributes = cudaPointerAttributes{cudaMemoryTypeUnregistered, 0, nullptr, const_cast<void*>(pointer)};
  if (it != r.allocations.end()) {
    attributes->type = it->second.type;
    attributes->devicePointer = const_cast<void*>(pointer);
    if (it->second.type == cudaMemoryTypeDevice) attributes->hostPointer = nullptr;
  }
  return report(cudaSuccess);
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) { return simt::copy(to, from, bytes, kind); }
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t) {
  return simt::copy(to, from, bytes, kind);
}
cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                         std::size_t height, cudaMemcpyKind kind) {
  if (width > to_pitch || width > from_pitch) return report(cudaErrorInvalidPitchValue);
  for (std::size_t row = 0; row < height; ++row) {
    const cudaError_t error = simt::copy(static_cast<char*>(to) + row * to_pitch, static_cast<const char*>(from) + row * from_pitch, width, kind);
    if (error != cudaSuccess) return error;
  }
  return report(cudaSuccess);
}
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                              std::size_t height, cudaMemcpyKind kind, cudaStream_t) {
  return cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind);
}
cudaError_t cudaMemset(void* to, int value, std::size_t bytes) { return simt::set(to, value, bytes); }
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t) { return simt::set(to, value, bytes); }
cudaError_t cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height) {
  if (width > pitch) return report(cudaErrorInvalidPitchValue);
  for (std::size_t row = 0; row < height; ++row) {
    const cudaError_t error = simt::set(static_cast<char*>(to) + row * pitch, value, width);
    if (error != cudaSuccess) return error;
  }
  return report(cudaSuccess);
}
cudaError_t cudaMemset2DAsync(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height, cudaStream_t) {
  return cudaMemset2D(to, pitch, value, width, height);
}
