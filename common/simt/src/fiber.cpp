// Stacks and switches; see fiber.h.
#include "fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "sanitizers.h"

namespace simt {
namespace {

std::size_t stack_bytes_wanted() {
  static const std::size_t bytes = [] {
    std::size_t kilobytes = SIMT_ASAN || SIMT_TSAN ? 256 : 64;
    if (const char* text = std::getenv("RUNG_SIMT_STACK_KB")) {
      const long value = std::strtol(text, nullptr, 10);
      if (value >= 16 && value <= 65536) kilobytes = static_cast<std::size_t>(value);
    }
    return kilobytes * 1024;
  }();
  return bytes;
}

void start_at(Fiber& fiber, FiberEntry entry) {
  char* top = fiber.stack_bottom + fiber.stack_bytes - fiber.colour;
  fiber.context = boost::context::detail::make_fcontext(top, fiber.stack_bytes - fiber.colour, entry);
}

}  // namespace

Fiber::~Fiber() {
  if (mapping != nullptr) munmap(mapping, mapping_bytes);
}

void arrived(boost::context::detail::transfer_t transfer, [[maybe_unused]] Fiber& self) {
  Fiber* previous = static_cast<Fiber*>(transfer.data);
#if SIMT_ASAN
  const void* bottom = nullptr;
  std::size_t size = 0;
  __sanitizer_finish_switch_fiber(self.fake_stack, &bottom, &size);
  if (previous->stack_bottom == nullptr) {  // the worker's own stack, seen for the first time
    previous->stack_bottom = static_cast<char*>(const_cast<void*>(bottom));
    previous->stack_bytes = size;
  }
#endif
  previous->context = transfer.fctx;
}

void switch_fiber(Fiber& from, Fiber& to) {
#if SIMT_ASAN
  __sanitizer_start_switch_fiber(&from.fake_stack, to.stack_bottom, to.stack_bytes);
#endif
#if SIMT_TSAN
  __tsan_switch_to_fiber(to.tsan, 1);
#endif
  arrived(boost::context::detail::jump_fcontext(to.context, &from), from);
}

void leave_fiber(Fiber& from, Fiber& to) {
#if SIMT_ASAN
  __sanitizer_start_switch_fiber(nullptr, to.stack_bottom, to.stack_bytes);
#endif
#if SIMT_TSAN
  __tsan_switch_to_fiber(to.tsan, 1);
#endif
  boost::context::detail::jump_fcontext(to.context, &from);
  std::abort();  // nothing switches back
}

std::unique_ptr<Fiber> make_fiber(FiberEntry entry) {
  auto fiber = std::make_unique<Fiber>();
  const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  fiber->stack_bytes = stack_bytes_wanted();
  fiber->mapping_bytes = fiber->stack_bytes + page;
  void* mapping = mmap(nullptr, fiber->mapping_bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) {
    std::fprintf(stderr,
                 "emulated CUDA: no memory for a thread's stack of %zu bytes; set RUNG_SIMT_THREADS lower\n",
                 fiber->mapping_bytes);
    std::abort();
  }
  fiber->mapping = static_cast<char*>(mapping);
  // Without the guard page (too many mappings) an overflow is only harder to see.
  (void)mprotect(fiber->mapping, page, PROT_NONE);
  fiber->stack_bottom = fiber->mapping + page;
  // Stacks that all begin at the same offset of a page would share a few sets of the cache.
  static std::atomic<unsigned> stacks{0};
  fiber->colour = (stacks++ % 32) * 320;
  start_at(*fiber, entry);
  return fiber;
}

void reset_fiber(Fiber& fiber, FiberEntry entry) {
#if SIMT_ASAN
  __asan_unpoison_memory_region(fiber.stack_bottom, fiber.stack_bytes);
#endif
  fiber.fake_stack = nullptr;
  start_at(fiber, entry);
}

}  // namespace simt
