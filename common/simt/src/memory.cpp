// Device memory is the heap, so that AddressSanitizer sees it; new memory is filled with 0xFF, which is NaN.
// Copies and frees are checked against what cudaMalloc gave out.
#include "memory.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "device.h"
#include "error.h"
#include "options.h"
#include "sanitizers.h"
#include "simt/shared_memory.h"
#include "stream.h"

namespace simt {
namespace {

struct Allocation {
  std::size_t bytes = 0;
  cudaMemoryType type = cudaMemoryTypeDevice;
  std::size_t mapped = 0;  // bytes of its own pages; 0: from the heap
};

struct Registry {
  std::mutex mutex;
  std::map<const char*, Allocation> allocations;  // by first byte
  std::size_t device_bytes = 0;                   // of them, not the host's
  int accesses = 0;                               // DeviceAccess objects alive

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

// RUNG_SIMT_CHECK=host: device memory stands in pages of its own, closed while no kernel, copy or product
// runs.

void on_segv(int signal_number, siginfo_t* info, void*) {
  // No lock: the thread that faults may hold it, and the process ends here.
  const char* address = static_cast<const char*>(info->si_addr);
  const auto it = registry().find(address);
  char message[256];
  int length;
  if (it != registry().allocations.end()) {
    length = std::snprintf(message, sizeof(message),
                           "emulated CUDA: host code touches device memory: byte %zu of %zu that cudaMalloc "
                           "gave (use cudaMemcpy)\n",
                           static_cast<std::size_t>(address - it->first), it->second.bytes);
  } else {
    length =
        std::snprintf(message, sizeof(message), "emulated CUDA: segmentation fault at %p\n", info->si_addr);
  }
  if (write(2, message, static_cast<std::size_t>(length)) < 0) _exit(1);
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

void protect_all(int protection) {
  for (const auto& entry : registry().allocations)
    if (entry.second.mapped != 0) mprotect(const_cast<char*>(entry.first), entry.second.mapped, protection);
}

void* allocate_guarded(std::size_t bytes, std::size_t& mapped) {
  static const bool installed = [] {
    struct sigaction action = {};
    action.sa_sigaction = on_segv;
    action.sa_flags = SA_SIGINFO;
    return sigaction(SIGSEGV, &action, nullptr) == 0;
  }();
  (void)installed;
  const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  mapped = (bytes + page - 1) / page * page;
  void* memory = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

void report_leaks() {
  Registry& r = registry();
  std::lock_guard<std::mutex> lock(r.mutex);
  if (r.allocations.empty()) return;
  std::size_t total = 0;
  for (const auto& entry : r.allocations) total += entry.second.bytes;
  std::fprintf(stderr, "emulated CUDA: %zu allocation%s of device or pinned memory never freed, %zu bytes:\n",
               r.allocations.size(), r.allocations.size() == 1 ? "" : "s", total);
  int shown = 0;
  for (const auto& entry : r.allocations) {
    if (++shown > 10) break;
    std::fprintf(stderr, "emulated CUDA:   %zu bytes of %s memory\n", entry.second.bytes,
                 entry.second.type == cudaMemoryTypeHost ? "pinned" : "device");
  }
}

cudaError_t allocate(void** pointer, std::size_t bytes, cudaMemoryType type) {
  if (pointer == nullptr) return report(cudaErrorInvalidValue);
  if (sticky_error() != cudaSuccess) return report(cudaSuccess);
  *pointer = nullptr;
  const cudaError_t refused = refuse_in_capture("an allocation");
  if (refused != cudaSuccess) return refused;
  if (bytes == 0) return cudaSuccess;
  const std::size_t free_bytes = device_memory() - device_memory_used();
  if (bytes > free_bytes)
    return report(cudaErrorMemoryAllocation, std::to_string(bytes) + " bytes asked for, " +
                                                 std::to_string(free_bytes) + " of " +
                                                 std::to_string(device_memory()) + " are free");
  void* memory = nullptr;
  std::size_t mapped = 0;
  if (check_host() && type == cudaMemoryTypeDevice) {
    memory = allocate_guarded(bytes, mapped);
  } else if (posix_memalign(&memory, 256, bytes) != 0) {
    memory = nullptr;
  }
  if (memory == nullptr) return report(cudaErrorMemoryAllocation);
  if (check_leaks()) {
    static const bool registered = std::atexit(report_leaks) == 0;
    (void)registered;
  }
  {
    TsanIgnore ignore;
    std::memset(memory, 0xff, bytes);
  }
  Registry& r = registry();
  std::lock_guard<std::mutex> lock(r.mutex);
  r.allocations[static_cast<const char*>(memory)] = Allocation{bytes, type, mapped};
  if (type != cudaMemoryTypeHost) r.device_bytes += bytes;
  if (mapped != 0 && r.accesses == 0) mprotect(memory, mapped, PROT_NONE);
  *pointer = memory;
  return cudaSuccess;
}

cudaError_t release(void* pointer, bool host) {
  if (pointer == nullptr) return report(cudaSuccess);
  const cudaError_t refused = refuse_in_capture("a free");
  if (refused != cudaSuccess) return refused;
  std::size_t mapped = 0;
  {
    Registry& r = registry();
    std::lock_guard<std::mutex> lock(r.mutex);
    const auto it = r.allocations.find(static_cast<const char*>(pointer));
    if (it == r.allocations.end() || (it->second.type == cudaMemoryTypeHost) != host)
      return report(cudaErrorInvalidValue, "free of a pointer that was not allocated, or twice");
    mapped = it->second.mapped;
    if (!host) r.device_bytes -= it->second.bytes;
    r.allocations.erase(it);
  }
  if (mapped != 0)
    munmap(pointer, mapped);
  else
    std::free(pointer);
  return report(cudaSuccess);
}

/// Whether `bytes` from `pointer` on stay inside the allocation that it points into. Other addresses pass:
/// they are the host's memory or a __device__ variable.
bool in_bounds(const void* pointer, std::size_t bytes, std::string& detail) {
  Registry& r = registry();
  std::lock_guard<std::mutex> lock(r.mutex);
  const auto it = r.find(pointer);
  if (it == r.allocations.end()) return true;
  const std::size_t offset = static_cast<std::size_t>(static_cast<const char*>(pointer) - it->first);
  if (bytes <= it->second.bytes - offset) return true;
  detail = std::to_string(bytes) + " bytes from offset " + std::to_string(offset) + " of an allocation of " +
           std::to_string(it->second.bytes) + " bytes";
  return false;
}

cudaError_t copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  if (sticky_error() != cudaSuccess) return report(cudaSuccess);
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) return report(cudaErrorInvalidMemcpyDirection);
  if (bytes == 0) return cudaSuccess;
  if (to == nullptr || from == nullptr) return report(cudaErrorInvalidValue, "copy with a null pointer");
  std::string detail;
  if (!in_bounds(to, bytes, detail)) return report(cudaErrorInvalidValue, "copy to " + detail);
  if (!in_bounds(from, bytes, detail)) return report(cudaErrorInvalidValue, "copy from " + detail);
  const DeviceAccess access;
  std::memmove(to, from, bytes);
  return cudaSuccess;
}

cudaError_t set(void* to, int value, std::size_t bytes) {
  if (sticky_error() != cudaSuccess) return report(cudaSuccess);
  if (bytes == 0) return cudaSuccess;
  std::string detail;
  if (to == nullptr || !in_bounds(to, bytes, detail))
    return report(cudaErrorInvalidValue, "memset of " + detail);
  const DeviceAccess access;
  std::memset(to, value, bytes);
  return cudaSuccess;
}

}  // namespace

void free_all_device_memory() {
  Registry& r = registry();
  std::lock_guard<std::mutex> lock(r.mutex);
  for (const auto& entry : r.allocations) {
    char* memory = const_cast<char*>(entry.first);
    if (entry.second.mapped != 0)
      munmap(memory, entry.second.mapped);
    else
      std::free(memory);
  }
  r.allocations.clear();
  r.device_bytes = 0;
}

std::size_t device_memory_used() {
  Registry& r = registry();
  std::lock_guard<std::mutex> lock(r.mutex);
  return r.device_bytes;
}

DeviceAccess::DeviceAccess() {
  if (!check_host()) return;
  Registry& r = registry();
  std::lock_guard<std::mutex> lock(r.mutex);
  if (r.accesses++ == 0) protect_all(PROT_READ | PROT_WRITE);
}

DeviceAccess::~DeviceAccess() {
  if (!check_host()) return;
  Registry& r = registry();
  std::lock_guard<std::mutex> lock(r.mutex);
  if (--r.accesses == 0) protect_all(PROT_NONE);
}

std::string find_shared_poison() {
  constexpr std::uint32_t poison = std::uint32_t{shared_poison} << 16 | shared_poison;
  Registry& r = registry();
  std::lock_guard<std::mutex> lock(r.mutex);
  for (const auto& entry : r.allocations) {
    if (entry.second.type == cudaMemoryTypeHost) continue;
    for (std::size_t at = 0; at + 4 <= entry.second.bytes; at += 4) {
      std::uint32_t word;
      std::memcpy(&word, entry.first + at, 4);
      if (word == poison)
        return "uninitialised shared memory reached global memory: bytes " + std::to_string(at) + " to " +
               std::to_string(at + 3) + " of " + std::to_string(entry.second.bytes) + " that cudaMalloc gave";
    }
  }
  return "";
}

cudaError_t copy_to_symbol(void* symbol, std::size_t symbol_bytes, const void* from, std::size_t bytes,
                           std::size_t offset, cudaStream_t stream) {
  if (offset > symbol_bytes || bytes > symbol_bytes - offset)
    return report(cudaErrorInvalidValue, "copy past the symbol's end");
  return cudaMemcpyAsync(static_cast<char*>(symbol) + offset, from, bytes, cudaMemcpyDefault, stream);
}

cudaError_t copy_from_symbol(void* to, const void* symbol, std::size_t symbol_bytes, std::size_t bytes,
                             std::size_t offset, cudaStream_t stream) {
  if (offset > symbol_bytes || bytes > symbol_bytes - offset)
    return report(cudaErrorInvalidValue, "copy past the symbol's end");
  return cudaMemcpyAsync(to, static_cast<const char*>(symbol) + offset, bytes, cudaMemcpyDefault, stream);
}

}  // namespace simt

using simt::report;

cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  return simt::allocate(pointer, bytes, cudaMemoryTypeDevice);
}
cudaError_t cudaMallocHost(void** pointer, std::size_t bytes, unsigned) {
  return simt::allocate(pointer, bytes, cudaMemoryTypeHost);
}
cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned) {
  return simt::allocate(pointer, bytes, cudaMemoryTypeHost);
}
cudaError_t cudaMallocManaged(void** pointer, std::size_t bytes, unsigned) {
  return simt::allocate(pointer, bytes, cudaMemoryTypeManaged);
}
cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes, cudaStream_t stream) {
  if (simt::is_capturing(stream)) return simt::refuse_in_capture_of(stream, "cudaMallocAsync");
  return cudaMalloc(pointer, bytes);
}
cudaError_t cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width, std::size_t height) {
  *pitch = (width + 511) / 512 * 512;
  return cudaMalloc(pointer, *pitch * height);
}
cudaError_t cudaFree(void* pointer) {
  return simt::release(pointer, false);
}
cudaError_t cudaFreeHost(void* pointer) {
  return simt::release(pointer, true);
}
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  if (simt::is_capturing(stream)) return simt::refuse_in_capture_of(stream, "cudaFreeAsync");
  return cudaFree(pointer);
}
cudaError_t cudaHostRegister(void* pointer, std::size_t bytes, unsigned) {
  return report(pointer == nullptr || bytes == 0 ? cudaErrorInvalidValue : cudaSuccess);
}
cudaError_t cudaHostUnregister(void*) {
  return report(cudaSuccess);
}
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

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return simt::queue(stream, "memcpy", [=] { return simt::copy(to, from, bytes, kind); });
}
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                              std::size_t width, std::size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream) {
  if (width > to_pitch || width > from_pitch) return report(cudaErrorInvalidPitchValue);
  return simt::queue(stream, "memcpy", [=] {
    for (std::size_t row = 0; row < height; ++row) {
      const cudaError_t error = simt::copy(static_cast<char*>(to) + row * to_pitch,
                                           static_cast<const char*>(from) + row * from_pitch, width, kind);
      if (error != cudaSuccess) return error;
    }
    return report(cudaSuccess);
  });
}
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
  return simt::queue(stream, "memset", [=] { return simt::set(to, value, bytes); });
}
cudaError_t cudaMemset2DAsync(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height,
                              cudaStream_t stream) {
  if (width > pitch) return report(cudaErrorInvalidPitchValue);
  return simt::queue(stream, "memset", [=] {
    for (std::size_t row = 0; row < height; ++row) {
      const cudaError_t error = simt::set(static_cast<char*>(to) + row * pitch, value, width);
      if (error != cudaSuccess) return error;
    }
    return report(cudaSuccess);
  });
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return cudaMemcpyAsync(to, from, bytes, kind, nullptr);
}
cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  return cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, nullptr);
}
cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
  return cudaMemsetAsync(to, value, bytes, nullptr);
}
cudaError_t cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height) {
  return cudaMemset2DAsync(to, pitch, value, width, height, nullptr);
}
