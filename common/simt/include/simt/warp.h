// Warp collectives with masks: shuffles, votes, matches, reductions and __syncwarp.
// Shuffles and reductions whose mask names exited or absent lanes are errors of the launch; votes and
// __syncwarp leave such lanes out, as CUDA's documentation allows.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "simt/thread.h"

namespace simt {

enum class WarpOp {
  sync,
  shuffle,
  ballot,
  match_any,
  match_all,
  add,
  min_signed,
  min_unsigned,
  max_signed,
  max_unsigned,
  bit_and,
  bit_or,
  bit_xor,
  call,  // run a function once, when all lanes of the mask are there (tensor-core products)
};

/// What all lanes of a `call` agree on: `run` gets the lanes' arguments, null where a lane is not in the
/// mask.
using WarpFunction = void (*)(void* const arguments[32]);

/// Waits until all lanes of `mask` are in the same operation at the same place, then returns this lane's
/// result. `source` is the lane read by a shuffle; `function` belongs to WarpOp::call.
std::uint64_t warp_collective(WarpOp op, const char* name, unsigned mask, std::uint64_t value, int source,
                              WarpFunction function, const char* file, int line);

/// Lanes of this warp that exist and have not exited.
unsigned active_lanes();
/// This thread's lane, 0..31.
int lane();

template <class T>
T shuffle(const char* name, unsigned mask, T value, int source, const char* file, int line) {
  static_assert(sizeof(T) <= 8 && std::is_trivially_copyable<T>::value,
                "shuffles move 32- and 64-bit values");
  std::uint64_t bits = 0;
  std::memcpy(&bits, static_cast<const void*>(&value), sizeof(T));
  bits = warp_collective(WarpOp::shuffle, name, mask, bits, source, nullptr, file, line);
  T result;
  std::memcpy(static_cast<void*>(&result), &bits, sizeof(T));
  return result;
}

/// First lane of this lane's segment of `width` lanes.
inline int segment_start(int width) {
  return lane() & ~(width - 1);
}

}  // namespace simt

#define SIMT_HERE const char *file = __builtin_FILE(), int line = __builtin_LINE()

template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32, SIMT_HERE) {
  return simt::shuffle("__shfl_sync", mask, value, simt::segment_start(width) + (source & (width - 1)), file,
                       line);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, SIMT_HERE) {
  const int source = simt::lane() - static_cast<int>(delta);
  return simt::shuffle("__shfl_up_sync", mask, value,
                       source < simt::segment_start(width) ? simt::lane() : source, file, line);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, SIMT_HERE) {
  const int source = simt::lane() + static_cast<int>(delta);
  return simt::shuffle("__shfl_down_sync", mask, value,
                       source >= simt::segment_start(width) + width ? simt::lane() : source, file, line);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32, SIMT_HERE) {
  const int source = simt::lane() ^ lane_mask;
  return simt::shuffle("__shfl_xor_sync", mask, value,
                       source >= simt::segment_start(width) + width ? simt::lane() : source, file, line);
}

inline void __syncwarp(unsigned mask = 0xffffffffu, SIMT_HERE) {
  simt::warp_collective(simt::WarpOp::sync, "__syncwarp", mask, 0, 0, nullptr, file, line);
}
inline unsigned __ballot_sync(unsigned mask, int predicate, SIMT_HERE) {
  return static_cast<unsigned>(simt::warp_collective(simt::WarpOp::ballot, "__ballot_sync", mask,
                                                     predicate != 0, 0, nullptr, file, line));
}
inline int __any_sync(unsigned mask, int predicate, SIMT_HERE) {
  return simt::warp_collective(simt::WarpOp::ballot, "__any_sync", mask, predicate != 0, 0, nullptr, file,
                               line) != 0;
}
inline int __all_sync(unsigned mask, int predicate, SIMT_HERE) {
  return simt::warp_collective(simt::WarpOp::ballot, "__all_sync", mask, predicate == 0, 0, nullptr, file,
                               line) == 0;
}
inline unsigned __activemask() {
  return simt::active_lanes();
}

template <class T>
unsigned __match_any_sync(unsigned mask, T value, SIMT_HERE) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return static_cast<unsigned>(
      simt::warp_collective(simt::WarpOp::match_any, "__match_any_sync", mask, bits, 0, nullptr, file, line));
}
template <class T>
unsigned __match_all_sync(unsigned mask, T value, int* predicate, SIMT_HERE) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  const unsigned result = static_cast<unsigned>(
      simt::warp_collective(simt::WarpOp::match_all, "__match_all_sync", mask, bits, 0, nullptr, file, line));
  *predicate = result != 0;
  return result;
}

#define SIMT_REDUCE(name, type, op)                                                                 \
  inline type name(unsigned mask, type value, SIMT_HERE) {                                          \
    return static_cast<type>(simt::warp_collective(                                                 \
        simt::WarpOp::op, #name, mask, static_cast<std::uint64_t>(value), 0, nullptr, file, line)); \
  }
SIMT_REDUCE(__reduce_add_sync, int, add)
SIMT_REDUCE(__reduce_add_sync, unsigned, add)
SIMT_REDUCE(__reduce_min_sync, int, min_signed)
SIMT_REDUCE(__reduce_min_sync, unsigned, min_unsigned)
SIMT_REDUCE(__reduce_max_sync, int, max_signed)
SIMT_REDUCE(__reduce_max_sync, unsigned, max_unsigned)
SIMT_REDUCE(__reduce_and_sync, unsigned, bit_and)
SIMT_REDUCE(__reduce_or_sync, unsigned, bit_or)
SIMT_REDUCE(__reduce_xor_sync, unsigned, bit_xor)
#undef SIMT_REDUCE
#undef SIMT_HERE
