// Replaces the global operator new and delete with ones that count.
#include "tests/peak_memory.h"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<bool> counting{false};
std::atomic<long> live{0}, peak{0};

void count(long bytes) {
  const long now = live += bytes;
  long before = peak;
  while (now > before && !peak.compare_exchange_weak(before, now)) {
  }
}

}  // namespace

// The array forms call these. A sanitizer's own forms must not be mixed with them, so all that pair up are
// here.
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  void* memory = std::malloc(std::max<size_t>(bytes, 1));
  if (counting && memory != nullptr) count(static_cast<long>(malloc_usable_size(memory)));
  return memory;
}

void* operator new(size_t bytes) {
  void* memory = operator new(bytes, std::nothrow);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void operator delete(void* memory) noexcept {
  if (counting && memory != nullptr) count(-static_cast<long>(malloc_usable_size(memory)));
  std::free(memory);
}

void operator delete(void* memory, size_t) noexcept {
  operator delete(memory);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept {
  operator delete(memory);
}

namespace rung::testing {

PeakMemory::PeakMemory() {
  live = 0;
  peak = 0;
  counting = true;
}

PeakMemory::~PeakMemory() {
  counting = false;
}

size_t PeakMemory::bytes() const {
  return static_cast<size_t>(peak.load());
}

}  // namespace rung::testing
