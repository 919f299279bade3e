// Launching a kernel: `kernel<<<grid, block, shared, stream>>>(arguments)` becomes
//   simt::launch("kernel", [&](auto&... a) { kernel(a...); }, simt::LaunchConfig(grid, block, shared,
//   stream), arguments);
#pragma once

#include <cstddef>

#include "simt/vector_types.h"

struct CUstream_st;

namespace simt {

struct LaunchConfig {
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes;
  CUstream_st* stream;
  LaunchConfig(dim3 grid_, dim3 block_, std::size_t shared_bytes_ = 0, CUstream_st* stream_ = nullptr)
      : grid(grid_), block(block_), shared_bytes(shared_bytes_), stream(stream_) {}
};

/// Runs `thread(closure)` once for each thread of the grid and returns when all have ended. Errors are
/// recorded as CUDA errors.
void launch_threads(const char* name, const LaunchConfig& config, void (*thread)(void*), void* closure);

template <class Body, class... Arguments>
void launch(const char* name, Body body, const LaunchConfig& config, Arguments... arguments) {
  auto closure = [&] { body(arguments...); };
  using Closure = decltype(closure);
  launch_threads(
      name, config, [](void* c) { (*static_cast<Closure*>(c))(); }, &closure);
}

/// What is known about the last error that a kernel caused ("" when none): kernel, block, thread, source
/// line.
const char* last_error_detail();
/// Forgets errors, sticky ones too (a real device needs cudaDeviceReset for that).
void clear_errors();

}  // namespace simt
