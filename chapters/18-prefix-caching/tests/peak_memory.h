// How much memory a piece of code has allocated at its worst moment.
#pragma once

#include <cstddef>

namespace rung::testing {

// Counts what operator new gives out and operator delete takes back, in the whole test program, from
// construction on. One at a time.
class PeakMemory {
 public:
  PeakMemory();
  ~PeakMemory();
  // The largest number of bytes that were allocated at once since construction, above what was allocated
  // then.
  size_t bytes() const;
};

}  // namespace rung::testing
