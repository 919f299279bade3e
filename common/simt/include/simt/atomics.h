// CUDA's atomic functions on global and shared memory. Relaxed, as CUDA's are: they order nothing else.
#pragma once

#include <cstring>

namespace simt {

template <class T, class Combine>
T atomic_update(T* address, Combine combine) {
  T old;
  __atomic_load(address, &old, __ATOMIC_RELAXED);
  T desired = combine(old);
  while (!__atomic_compare_exchange(address, &old, &desired, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    desired = combine(old);
  return old;
}

}  // namespace simt

#define SIMT_ATOMIC_INTEGER(T)                                                              \
  inline T atomicAdd(T* p, T v) {                                                           \
    return __atomic_fetch_add(p, v, __ATOMIC_RELAXED);                                      \
  }                                                                                         \
  inline T atomicExch(T* p, T v) {                                                          \
    return __atomic_exchange_n(p, v, __ATOMIC_RELAXED);                                     \
  }                                                                                         \
  inline T atomicAnd(T* p, T v) {                                                           \
    return __atomic_fetch_and(p, v, __ATOMIC_RELAXED);                                      \
  }                                                                                         \
  inline T atomicOr(T* p, T v) {                                                            \
    return __atomic_fetch_or(p, v, __ATOMIC_RELAXED);                                       \
  }                                                                                         \
  inline T atomicXor(T* p, T v) {                                                           \
    return __atomic_fetch_xor(p, v, __ATOMIC_RELAXED);                                      \
  }                                                                                         \
  inline T atomicMin(T* p, T v) {                                                           \
    return simt::atomic_update(p, [v](T old) { return old < v ? old : v; });                \
  }                                                                                         \
  inline T atomicMax(T* p, T v) {                                                           \
    return simt::atomic_update(p, [v](T old) { return old > v ? old : v; });                \
  }                                                                                         \
  inline T atomicCAS(T* p, T compare, T v) {                                                \
    __atomic_compare_exchange_n(p, &compare, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED); \
    return compare;                                                                         \
  }
SIMT_ATOMIC_INTEGER(int)
SIMT_ATOMIC_INTEGER(unsigned int)
SIMT_ATOMIC_INTEGER(unsigned long long)
#undef SIMT_ATOMIC_INTEGER

inline int atomicSub(int* p, int v) {
  return __atomic_fetch_sub(p, v, __ATOMIC_RELAXED);
}
inline unsigned atomicSub(unsigned* p, unsigned v) {
  return __atomic_fetch_sub(p, v, __ATOMIC_RELAXED);
}
inline long long atomicMin(long long* p, long long v) {
  return simt::atomic_update(p, [v](long long old) { return old < v ? old : v; });
}
inline long long atomicMax(long long* p, long long v) {
  return simt::atomic_update(p, [v](long long old) { return old > v ? old : v; });
}
inline unsigned atomicInc(unsigned* p, unsigned limit) {
  return simt::atomic_update(p, [limit](unsigned old) { return old >= limit ? 0u : old + 1; });
}
inline unsigned atomicDec(unsigned* p, unsigned limit) {
  return simt::atomic_update(p, [limit](unsigned old) { return old == 0 || old > limit ? limit : old - 1; });
}
inline unsigned short atomicCAS(unsigned short* p, unsigned short compare, unsigned short v) {
  __atomic_compare_exchange_n(p, &compare, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return compare;
}
inline float atomicAdd(float* p, float v) {
  return simt::atomic_update(p, [v](float old) { return old + v; });
}
inline double atomicAdd(double* p, double v) {
  return simt::atomic_update(p, [v](double old) { return old + v; });
}
inline float atomicExch(float* p, float v) {
  float old;
  __atomic_exchange(p, &v, &old, __ATOMIC_RELAXED);
  return old;
}
#define SIMT_ATOMIC_BLOCK(name) \
  template <class T>            \
  T name##_block(T* p, T v) {   \
    return name(p, v);          \
  }                             \
  template <class T>            \
  T name##_system(T* p, T v) {  \
    return name(p, v);          \
  }
SIMT_ATOMIC_BLOCK(atomicAdd)
SIMT_ATOMIC_BLOCK(atomicMin)
SIMT_ATOMIC_BLOCK(atomicMax)
SIMT_ATOMIC_BLOCK(atomicExch)
#undef SIMT_ATOMIC_BLOCK
