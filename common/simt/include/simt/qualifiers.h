// CUDA's declaration specifiers for a host compiler. Everything is ordinary C++ here, so most of them vanish.
#pragma once

#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(n) alignas(n)
#define __CUDACC_EMULATED__ 1

// `__shared__` and `<<<…>>>` are rewritten by the translator in .cu files and in the .cuh files that they
// include.
#ifndef __shared__
#define __shared__ static_assert(false, "put __shared__ variables into a .cu or .cuh file"),
#endif
// `__noinline__` is an attribute name in the system's own headers, so it cannot be a macro; the translator
// rewrites it.
