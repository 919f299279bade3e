// What a kernel's thread knows about itself and how it waits for others: threadIdx and its kin, block
// barriers, fences. A block runs on one operating-system thread, so these are thread-local variables that the
// scheduler sets at each switch.
#pragma once

#include "simt/vector_types.h"

extern __thread uint3 threadIdx;
extern __thread uint3 blockIdx;
extern __thread dim3 blockDim;
extern __thread dim3 gridDim;
constexpr int warpSize = 32;

namespace simt {

enum class BarrierVote { none, count, all, any };

/// Waits until every thread of the block has come to the barrier at this place; returns the vote over
/// `predicate`. Threads that exited or wait at another place are an error of the launch.
int block_barrier(BarrierVote vote, int predicate, const char* file, int line);

/// Ends the kernel with an error (`__trap()`).
[[noreturn]] void trap(const char* file, int line);
/// Ends the kernel with an error if its block has more threads than `__launch_bounds__` promised.
void check_launch_bounds(int most_threads);

/// A memory fence: under ThreadSanitizer it orders what fencing threads did before it.
void memory_fence();

/// Clock ticks in nanoseconds.
long long clock_ticks();

}  // namespace simt

inline void __syncthreads(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  simt::block_barrier(simt::BarrierVote::none, 0, file, line);
}
inline int __syncthreads_count(int predicate, const char* file = __builtin_FILE(),
                               int line = __builtin_LINE()) {
  return simt::block_barrier(simt::BarrierVote::count, predicate, file, line);
}
inline int __syncthreads_and(int predicate, const char* file = __builtin_FILE(),
                             int line = __builtin_LINE()) {
  return simt::block_barrier(simt::BarrierVote::all, predicate, file, line);
}
inline int __syncthreads_or(int predicate, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  return simt::block_barrier(simt::BarrierVote::any, predicate, file, line);
}
[[noreturn]] inline void __trap(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  simt::trap(file, line);
}
inline void __threadfence() {
  simt::memory_fence();
}
inline void __threadfence_block() {
  simt::memory_fence();
}
inline void __threadfence_system() {
  simt::memory_fence();
}
inline void __nanosleep(unsigned int) {}
inline long long clock64() {
  return simt::clock_ticks();
}
inline unsigned long long __globaltimer() {
  return static_cast<unsigned long long>(simt::clock_ticks());
}
