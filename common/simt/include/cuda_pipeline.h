// Asynchronous copies from global to shared memory: the primitives of CUDA's <cuda_pipeline.h>. A copy
// happens as late as it may, when its thread waits for it. Until then its destination holds the NaN of shared
// memory that was never written: neither what is to come nor what was there before can be relied on.
#pragma once

#include <cstddef>
#include <cstring>

#include "cuda_runtime.h"
#include "simt/async_copy.h"
#include "simt/shared_memory.h"

inline void __pipeline_memcpy_async(void* shared, const void* global, std::size_t bytes,
                                    std::size_t zeros = 0, const char* file = __builtin_FILE(),
                                    int line = __builtin_LINE()) {
  simt::begin_async_copy({shared, global, bytes, zeros}, file, line);
  for (std::size_t i = 0; i < bytes; i += sizeof(simt::shared_poison))
    std::memcpy(static_cast<char*>(shared) + i, &simt::shared_poison, sizeof(simt::shared_poison));
}
inline void __pipeline_commit() {
  simt::commit_async_copies();
}
/// Waits for all committed groups but the latest `prior`.
inline void __pipeline_wait_prior(std::size_t prior) {
  simt::AsyncCopy copy;
  while (simt::take_async_copy(prior, copy)) {
    std::memcpy(copy.to, copy.from, copy.bytes - copy.zeros);
    std::memset(static_cast<char*>(copy.to) + copy.bytes - copy.zeros, 0, copy.zeros);
  }
}
