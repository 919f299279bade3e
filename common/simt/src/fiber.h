// A fiber: a stack and a place to continue, on Boost.Context's bare jump. Fibers never leave the
// operating-system thread that made them.
#pragma once

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <memory>
#include <vector>

namespace simt {

struct Fiber {
  boost::context::detail::fcontext_t context = nullptr;
  char* stack_bottom = nullptr;
  std::size_t stack_bytes = 0;
  char* mapping = nullptr;
  std::size_t mapping_bytes = 0;
  std::size_t colour = 0;      // bytes unused at the top
  void* fake_stack = nullptr;  // AddressSanitizer's
  void* tsan = nullptr;        // ThreadSanitizer's fiber that runs on it

  Fiber() = default;
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;
};

/// Suspends `from` and continues `to`; returns when something switches back to `from`.
void switch_fiber(Fiber& from, Fiber& to);
/// As switch_fiber, but `from` will not continue: its stack is free for reset().
[[noreturn]] void leave_fiber(Fiber& from, Fiber& to);
/// First thing a new fiber does with what its entry function got.
void arrived(boost::context::detail::transfer_t transfer, Fiber& self);

using FiberEntry = void (*)(boost::context::detail::transfer_t);

/// A new fiber with a stack (guard page below) that will start at `entry`.
std::unique_ptr<Fiber> make_fiber(FiberEntry entry);
/// Starts over: forgets what is on the stack.
void reset_fiber(Fiber& fiber, FiberEntry entry);

}  // namespace simt
