// Launching a kernel: `kernel<<<grid, block, shared, stream>>>(arguments)` becomes
//   simt::launch("kernel", [=](auto&... a) { kernel(a...); }, [=](auto f) -> decltype(f(kernel)) { return
//   f(kernel); }, simt::LaunchConfig(grid, block, shared, stream), arguments);
#pragma once

#include <cstddef>
#include <memory>

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

/// A kernel with its arguments' values.
struct KernelCall {
  const char* name;
  const void*
      function;  // the kernel's address; null where its name alone does not tell (deduced template arguments)
  void* closure;
  void (*run)(void* closure);                                  // one thread
  std::shared_ptr<void> (*copy_closure)(const void* closure);  // for a graph
};

/// Runs `call` once for each thread of the grid and returns when all have ended, or records it where the
/// stream captures. Errors are recorded as CUDA errors.
void launch_threads(const KernelCall& call, const LaunchConfig& config);

struct KernelAddress {
  template <class Result, class... Parameters>
  const void* operator()(Result (*function)(Parameters...)) const {
    return reinterpret_cast<const void*>(function);
  }
};
template <class Name>
auto kernel_address(const Name& name, int) -> decltype(name(KernelAddress{})) {
  return name(KernelAddress{});
}
template <class Name>
const void* kernel_address(const Name&, long) {
  return nullptr;
}

/// `body` calls the kernel; `name` applies a function to its name.
template <class Body, class Name, class... Arguments>
void launch(const char* text, Body body, Name name, const LaunchConfig& config, Arguments... arguments) {
  auto closure = [body, arguments...]() mutable { body(arguments...); };
  using Closure = decltype(closure);
  launch_threads({text, kernel_address(name, 0), &closure, [](void* c) { (*static_cast<Closure*>(c))(); },
                  [](const void* c) -> std::shared_ptr<void> {
                    return std::make_shared<Closure>(*static_cast<const Closure*>(c));
                  }},
                 config);
}

/// What is known about the last error that a kernel caused ("" when none): kernel, block, thread, source
/// line.
const char* last_error_detail();
/// Forgets errors, sticky ones too (a real device needs cudaDeviceReset for that).
void clear_errors();

}  // namespace simt
