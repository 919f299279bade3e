// Aligned memory from the C library, zeroed.
#include "rung/aligned.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "rung/error.h"
#include "rung/memory.h"

namespace rung {

std::shared_ptr<void> allocate_aligned(size_t bytes) {
  constexpr size_t alignment = 64;
  const size_t rounded = (bytes + alignment) / alignment * alignment;
  void* memory = rounded < bytes ? nullptr : std::aligned_alloc(alignment, rounded);
  if (memory == nullptr) {
    fail("out of memory: ", bytes, " bytes needed, ", std::min(available_memory(), available_address_space()),
         " available");
  }
  std::memset(memory, 0, rounded);
  return std::shared_ptr<void>(memory, std::free);
}

}  // namespace rung
