// Memory whose address is a multiple of 64: a cache line, and the widest vector register in use.
#pragma once

#include <cstddef>
#include <memory>

namespace rung {

// bytes of zeroed memory (at least one is allocated). Throws Error with the size if there is none.
std::shared_ptr<void> allocate_aligned(size_t bytes);

}  // namespace rung
