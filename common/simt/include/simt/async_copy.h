// Asynchronous copies as the scheduler keeps them; <cuda_pipeline.h> is what kernels call.
#pragma once

#include <cstddef>

namespace simt {

struct AsyncCopy {
  void* to;
  const void* from;
  std::size_t bytes, zeros;  // `bytes` in all, the last `zeros` of them 0
};

/// Notes a copy of the running thread. A wrong size or address, or a destination outside of the block's
/// shared memory, is an error of the launch.
void begin_async_copy(const AsyncCopy& copy, const char* file, int line);
/// Ends the running thread's group of copies.
void commit_async_copies();
/// Takes off the oldest copy of all committed groups but the latest `groups`; false when there is none.
bool take_async_copy(std::size_t groups, AsyncCopy& copy);

}  // namespace simt
