// The limits and the memory of the emulated device.
#pragma once

#include <cstddef>
#include <cstdint>

namespace simt {

constexpr std::uint64_t max_threads_per_block = 1024;
constexpr std::size_t max_shared_default = 48 * 1024;
constexpr std::size_t max_shared_optin = 227 * 1024;

/// 48 KB until cudaFuncSetAttribute raised it.
std::size_t dynamic_shared_limit();

/// Frees everything that cudaMalloc gave out and is still there.
void free_all_device_memory();

}  // namespace simt
