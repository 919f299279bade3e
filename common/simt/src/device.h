// The limits and the memory of the emulated device.
#pragma once

#include <cstddef>
#include <cstdint>

namespace simt {

constexpr std::uint64_t max_threads_per_block = 1024;
constexpr std::size_t max_shared_default = 48 * 1024;
constexpr std::size_t max_shared_optin = 227 * 1024;

/// Dynamic shared memory that the kernel may have: 48 KB until cudaFuncSetAttribute says otherwise. Where the
/// kernel is not known (null), what the most favoured one may have.
std::size_t dynamic_shared_limit(const void* function);

/// Bytes of memory that the device has: what the machine had available when first asked, or
/// RUNG_SIMT_MEMORY_MB.
std::size_t device_memory();
/// Bytes of it that are given out.
std::size_t device_memory_used();

/// Frees everything that cudaMalloc gave out and is still there.
void free_all_device_memory();

}  // namespace simt
