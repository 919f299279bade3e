// The sanitizers' fiber and shadow interfaces, empty where a sanitizer is off. The runtime is compiled
// without ThreadSanitizer even when the program has it, so SIMT_TSAN comes from the build.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define SIMT_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SIMT_ASAN 1
#endif
#endif
#ifndef SIMT_ASAN
#define SIMT_ASAN 0
#endif
#ifndef SIMT_TSAN
#define SIMT_TSAN 0
#endif

#if SIMT_ASAN
extern "C" {
void __sanitizer_start_switch_fiber(void** fake_stack_save, const void* bottom, size_t size);
void __sanitizer_finish_switch_fiber(void* fake_stack_save, const void** bottom_old, size_t* size_old);
void __asan_unpoison_memory_region(void const volatile* address, size_t size);
void __asan_poison_memory_region(void const volatile* address, size_t size);
}
#endif

#if SIMT_TSAN
extern "C" {
void* __tsan_get_current_fiber(void);
void* __tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void* fiber);
void __tsan_switch_to_fiber(void* fiber, unsigned flags);
void __tsan_set_fiber_name(void* fiber, const char* name);
void __tsan_acquire(void* address);
void __tsan_release(void* address);
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
}
#endif

namespace simt {

inline void tsan_acquire([[maybe_unused]] void* token) {
#if SIMT_TSAN
  __tsan_acquire(token);
#endif
}
inline void tsan_release([[maybe_unused]] void* token) {
#if SIMT_TSAN
  __tsan_release(token);
#endif
}

/// From here on, ThreadSanitizer sees no accesses of the running thread: neither the runtime's own to the
/// program's memory nor those of intercepted functions (operator new, memcpy) that the runtime calls; and
/// memory allocated or mapped starts with no history.
inline void begin_ignoring() {
#if SIMT_TSAN
  AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
  AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
#endif
}
inline void end_ignoring() {
#if SIMT_TSAN
  AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
  AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
#endif
}

struct TsanIgnore {
  TsanIgnore() { begin_ignoring(); }
  ~TsanIgnore() { end_ignoring(); }
  TsanIgnore(const TsanIgnore&) = delete;
  TsanIgnore& operator=(const TsanIgnore&) = delete;
};

}  // namespace simt
