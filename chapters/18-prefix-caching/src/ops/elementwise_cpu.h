// Element-wise work on the CPU: the elements in chunks, the chunks shared out among the threads.
#pragma once

#include <algorithm>

#include "rung/device.h"

namespace rung {

// Calls body(begin, end) for ranges that cover [0, elements).
template <class Body>
void for_chunks(Cpu& device, int64_t elements, Body body) {
  constexpr int64_t kChunk = 4096;  // some microseconds of work, more than starting a loop costs
  const int64_t chunks = (elements + kChunk - 1) / kChunk;
  device.pool.parallel_for(static_cast<size_t>(chunks), [&](size_t chunk) {
    const int64_t begin = static_cast<int64_t>(chunk) * kChunk;
    body(begin, std::min(begin + kChunk, elements));
  });
}

}  // namespace rung
