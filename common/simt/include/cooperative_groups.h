// Cooperative groups as far as kernels of one block use them: the block, and tiles of at most a warp.
#pragma once

#include "cuda_runtime.h"

namespace cooperative_groups {

class thread_block {
 public:
  void sync(const char* file = __builtin_FILE(), int line = __builtin_LINE()) const {
    __syncthreads(file, line);
  }
  unsigned thread_rank() const { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }
  unsigned size() const { return blockDim.x * blockDim.y * blockDim.z; }
  unsigned num_threads() const { return size(); }
  dim3 group_index() const { return dim3(blockIdx); }
  dim3 thread_index() const { return dim3(threadIdx); }
  dim3 group_dim() const { return blockDim; }
};
inline thread_block this_thread_block() {
  return {};
}
inline void sync(const thread_block& block, const char* file = __builtin_FILE(),
                 int line = __builtin_LINE()) {
  block.sync(file, line);
}

#define SIMT_HERE const char *file = __builtin_FILE(), int line = __builtin_LINE()
template <unsigned tile>
class thread_block_tile {
 public:
  static_assert(tile >= 1 && tile <= 32 && (tile & (tile - 1)) == 0, "a power of two, at most a warp");
  unsigned thread_rank() const { return this_thread_block().thread_rank() % tile; }
  unsigned meta_group_rank() const { return this_thread_block().thread_rank() / tile; }
  unsigned meta_group_size() const { return (this_thread_block().size() + tile - 1) / tile; }
  static constexpr unsigned size() { return tile; }
  static constexpr unsigned num_threads() { return tile; }
  void sync(SIMT_HERE) const { __syncwarp(mask(), file, line); }
  template <class T>
  T shfl(T v, int source, SIMT_HERE) const {
    return __shfl_sync(mask(), v, source, tile, file, line);
  }
  template <class T>
  T shfl_down(T v, unsigned delta, SIMT_HERE) const {
    return __shfl_down_sync(mask(), v, delta, tile, file, line);
  }
  template <class T>
  T shfl_up(T v, unsigned delta, SIMT_HERE) const {
    return __shfl_up_sync(mask(), v, delta, tile, file, line);
  }
  template <class T>
  T shfl_xor(T v, int lanes, SIMT_HERE) const {
    return __shfl_xor_sync(mask(), v, lanes, tile, file, line);
  }
  int any(int predicate, SIMT_HERE) const { return __any_sync(mask(), predicate, file, line); }
  int all(int predicate, SIMT_HERE) const { return __all_sync(mask(), predicate, file, line); }
  unsigned ballot(int predicate, SIMT_HERE) const {
    return __ballot_sync(mask(), predicate, file, line) >> first_lane();
  }

 private:
  static unsigned first_lane() { return static_cast<unsigned>(simt::lane()) / tile * tile; }
  static unsigned mask() { return (tile == 32 ? 0xffffffffu : (1u << tile % 32) - 1) << first_lane(); }
};
template <unsigned tile>
thread_block_tile<tile> tiled_partition(const thread_block&) {
  return {};
}

template <class T>
struct plus {
  T operator()(T a, T b) const { return a + b; }
};
template <class T>
struct greater {
  T operator()(T a, T b) const { return a > b ? a : b; }
};
template <class T>
struct less {
  T operator()(T a, T b) const { return a < b ? a : b; }
};
/// Combines the tile's values pairwise; every thread gets the result.
template <unsigned tile, class T, class Combine>
T reduce(const thread_block_tile<tile>& group, T value, Combine combine, SIMT_HERE) {
  for (int lanes = static_cast<int>(tile) / 2; lanes > 0; lanes /= 2)
    value = combine(value, group.shfl_xor(value, lanes, file, line));
  return value;
}
#undef SIMT_HERE

}  // namespace cooperative_groups
