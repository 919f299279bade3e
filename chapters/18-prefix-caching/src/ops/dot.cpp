// Dot products on the CPU: a stored row with one row of activations, and register tiles of decoded rows with
// many.
#include "ops/dot.h"

#include <algorithm>
#include <utility>

#include "rung/error.h"

// AVX-512, AVX2 or SSE4 on x86, NEON on Arm. Scalable vectors (SVE) cannot stand in arrays.
#define HWY_DISABLED_TARGETS (HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#if defined(__x86_64__)
#define HWY_BASELINE_TARGETS HWY_SSE4
#endif
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/dot.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "ops/block_decode-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rung {
namespace HWY_NAMESPACE {

HWY_INLINE Group zero_group() {
  Group group;
  group.v[0] = hn::Zero(DF());
  if constexpr (kVectors > 1) group.v[1] = hn::Zero(DF());
  if constexpr (kVectors > 2) group.v[2] = group.v[3] = hn::Zero(DF());
  return group;
}

// Folds sixteen partial sums: l + (l + 8), l + (l + 4), l + (l + 2), 0 + 1.
HWY_INLINE float fold(const float* sums) {
  const hn::Full128<float> four;
  alignas(16) float lanes[4];
  const auto low = hn::Add(hn::Load(four, sums), hn::Load(four, sums + 8));
  const auto high = hn::Add(hn::Load(four, sums + 4), hn::Load(four, sums + 12));
  hn::Store(hn::Add(low, high), four, lanes);
  return (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
}

HWY_INLINE float fold(const Group& sums) {
  alignas(64) float lanes[kGroup];
  store_group(sums, lanes);
  return fold(lanes);
}

template <size_t... g>
using Indices = std::index_sequence<g...>;

template <class Block, size_t... g>
HWY_INLINE void add_unit(const uint8_t* block, size_t unit, const float* x, Group& sum, Indices<g...>) {
  const Block weights(block, unit);
  ((sum = multiply_add(weights.template group<g>(), load_group(x + kGroup * g), sum)), ...);
}

template <class Block, size_t... r>
HWY_INLINE void add_block(const uint8_t* block, size_t stride, const float* x, Group* sums, Indices<r...>) {
  for (size_t unit = 0; unit < Block::kUnits; ++unit) {
    const float* part = x + unit * Block::kGroups * kGroup;
    (add_unit<Block>(block + r * stride, unit, part, sums[r], std::make_index_sequence<Block::kGroups>()),
     ...);
  }
}

// kRows rows at once, since one row alone is a chain of additions that each wait for the one before.
template <class Block, size_t kRows>
HWY_INLINE void dot_few_rows(const uint8_t* weight, size_t stride, size_t in, const float* x, float* y) {
  constexpr auto each_row = std::make_index_sequence<kRows>();
  Group sums[kRows];
  for (Group& sum : sums) sum = zero_group();
  const size_t blocks = in / Block::kElements;
  for (size_t b = 0; b < blocks; ++b) {
    add_block<Block>(weight + b * Block::kBytes, stride, x + b * Block::kElements, sums, each_row);
  }
  if (const size_t rest = in % Block::kElements;
      rest > 0) {  // plain types only: complete the last block with zeros
    float padded_x[Block::kElements] = {};
    uint8_t padded[kRows * Block::kBytes] = {};
    std::copy_n(x + in - rest, rest, padded_x);
    for (size_t r = 0; r < kRows; ++r) {
      std::memcpy(padded + r * Block::kBytes, weight + r * stride + blocks * Block::kBytes,
                  rest * (Block::kBytes / Block::kElements));
    }
    add_block<Block>(padded, Block::kBytes, padded_x, sums, each_row);
  }
  for (size_t r = 0; r < kRows; ++r) y[r] = fold(sums[r]);
}

template <class Block>
void dot_rows_of(const void* weight, size_t rows, size_t stride, size_t in, const float* x, float* y) {
  const auto* bytes = static_cast<const uint8_t*>(weight);
  size_t o = 0;
  for (; o + 4 <= rows; o += 4) dot_few_rows<Block, 4>(bytes + o * stride, stride, in, x, y + o);
  for (; o < rows; ++o) dot_few_rows<Block, 1>(bytes + o * stride, stride, in, x, y + o);
}

template <class Block, size_t... g>
HWY_INLINE void decode_unit(const uint8_t* block, size_t unit, float* dst, Indices<g...>) {
  const Block weights(block, unit);
  (store_group(weights.template group<g>(), dst + kGroup * g), ...);
}

template <class Block>
HWY_INLINE void decode_block(const uint8_t* block, float* dst) {
  constexpr auto groups = std::make_index_sequence<Block::kGroups>();
  for (size_t unit = 0; unit < Block::kUnits; ++unit) {
    decode_unit<Block>(block, unit, dst + unit * Block::kGroups * kGroup, groups);
  }
}

template <class Block>
void decode_rows_of(const void* weight, size_t rows, size_t stride, size_t in, float* dst) {
  const size_t blocks = in / Block::kElements, rest = in % Block::kElements;
  for (size_t o = 0; o < rows; ++o) {
    const uint8_t* row = static_cast<const uint8_t*>(weight) + o * stride;
    float* out = dst + o * in;
    for (size_t b = 0; b < blocks; ++b)
      decode_block<Block>(row + b * Block::kBytes, out + b * Block::kElements);
    if (rest > 0) {
      uint8_t padded[Block::kBytes] = {};
      float decoded[Block::kElements];
      std::memcpy(padded, row + blocks * Block::kBytes, rest * (Block::kBytes / Block::kElements));
      decode_block<Block>(padded, decoded);
      std::copy_n(decoded, rest, out + in - rest);
    }
  }
}

// A tile of the product, kA rows of a by kX rows of x, as large as the register file allows, so that each
// loaded vector is used kA or kX times. Of each output's sixteen partial sums one vector's worth is worked on
// at a time.
constexpr bool kManyRegisters = kVectors == 1 || HWY_TARGET == HWY_NEON;  // 32, else 16
constexpr size_t kA = kManyRegisters ? 4 : 3, kX = kManyRegisters ? 6 : 4;
constexpr size_t kPiece = 768;  // elements of so many rows fit in the first-level cache, for all vectors

// Adds elements [begin, end) to partial sums `part` … of every output of the tile: sums[c * kA + r] for a row
// r, x row c.
template <size_t... j>
HWY_INLINE void tile_pass(const float* const* a, const float* const* x, size_t begin, size_t end, size_t part,
                          float (*sums)[kGroup], Indices<j...>) {
  VF registers[] = {hn::Load(DF(), sums[j] + part)...};
  for (size_t i = begin + part; i < end; i += kGroup) {
    ((registers[j] =
          hn::MulAdd(hn::LoadU(DF(), a[j % kA] + i), hn::LoadU(DF(), x[j / kA] + i), registers[j])),
     ...);
  }
  (hn::Store(registers[j], DF(), sums[j] + part), ...);
}

HWY_INLINE void tile_passes(const float* const* a, const float* const* x, size_t begin, size_t end,
                            float (*sums)[kGroup]) {
  for (size_t part = 0; part < kGroup; part += kLanes) {
    tile_pass(a, x, begin, end, part, sums, std::make_index_sequence<kA * kX>());
  }
}

void dot_tile(const float* const* a, const float* const* x, size_t in, float* y) {
  alignas(64) float sums[kA * kX][kGroup] = {};
  const size_t whole = in / kGroup * kGroup;
  for (size_t begin = 0; begin < whole; begin += kPiece) {
    tile_passes(a, x, begin, std::min(begin + kPiece, whole), sums);
  }
  if (whole < in) {  // the last elements, completed with zeros
    float padded[kA + kX][kGroup] = {};
    const float* rows[kA + kX];
    for (size_t r = 0; r < kA + kX; ++r) {
      std::copy_n((r < kA ? a[r] : x[r - kA]) + whole, in - whole, padded[r]);
      rows[r] = padded[r];
    }
    tile_passes(rows, rows + kA, 0, kGroup, sums);
  }
  for (size_t k = 0; k < kA * kX; ++k) y[k] = fold(sums[k]);
}

void dot_tiles_here(const float* a, size_t a_rows, size_t a_stride, const float* x, size_t x_rows,
                    size_t x_stride, size_t in, float* y, size_t y_stride) {
  for (size_t c0 = 0; c0 < x_rows; c0 += kX) {
    const float* tile_x[kX];
    for (size_t c = 0; c < kX; ++c) tile_x[c] = x + std::min(c0 + c, x_rows - 1) * x_stride;
    for (size_t r0 = 0; r0 < a_rows; r0 += kA) {
      const float* tile_a[kA];
      for (size_t r = 0; r < kA; ++r) tile_a[r] = a + std::min(r0 + r, a_rows - 1) * a_stride;
      float tile[kA * kX];
      dot_tile(tile_a, tile_x, in, tile);
      for (size_t c = 0; c < std::min(kX, x_rows - c0); ++c) {
        for (size_t r = 0; r < std::min(kA, a_rows - r0); ++r)
          y[(c0 + c) * y_stride + r0 + r] = tile[c * kA + r];
      }
    }
  }
}

// Calls Function<Block> for the block structure of dtype.
#define RUNG_FOR_DTYPE(dtype, function, ...)                                                \
  switch (dtype) {                                                                          \
    case DType::f32:                                                                        \
      return function<BlockF32>(__VA_ARGS__);                                               \
    case DType::f16:                                                                        \
      return function<BlockF16>(__VA_ARGS__);                                               \
    case DType::bf16:                                                                       \
      return function<BlockBF16>(__VA_ARGS__);                                              \
    case DType::q4_0:                                                                       \
      return function<BlockQ4_0>(__VA_ARGS__);                                              \
    case DType::q4_1:                                                                       \
      return function<BlockQ4_1>(__VA_ARGS__);                                              \
    case DType::q5_0:                                                                       \
      return function<BlockQ5_0>(__VA_ARGS__);                                              \
    case DType::q5_1:                                                                       \
      return function<BlockQ5_1>(__VA_ARGS__);                                              \
    case DType::q8_0:                                                                       \
      return function<BlockQ8_0>(__VA_ARGS__);                                              \
    case DType::q4_k:                                                                       \
      return function<BlockQ4_K>(__VA_ARGS__);                                              \
    case DType::q5_k:                                                                       \
      return function<BlockQ5_K>(__VA_ARGS__);                                              \
    case DType::q6_k:                                                                       \
      return function<BlockQ6_K>(__VA_ARGS__);                                              \
    case DType::i32:                                                                        \
      fail("a matrix product needs a weight of floating-point numbers, not ", name(dtype)); \
  }

void dot_rows_here(DType dtype, const void* weight, size_t rows, size_t in, const float* x, float* y) {
  RUNG_FOR_DTYPE(dtype, dot_rows_of, weight, rows, row_bytes(dtype, in), in, x, y)
}

void decode_rows_here(DType dtype, const void* weight, size_t rows, size_t in, float* dst) {
  RUNG_FOR_DTYPE(dtype, decode_rows_of, weight, rows, row_bytes(dtype, in), in, dst)
}

#undef RUNG_FOR_DTYPE

}  // namespace HWY_NAMESPACE
}  // namespace rung
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rung {

HWY_EXPORT(dot_rows_here);
HWY_EXPORT(decode_rows_here);
HWY_EXPORT(dot_tiles_here);

bool is_interleaved(DType dtype) {
  return dtype == DType::q4_1;
}

void interleave(const float* x, size_t count, float* dst) {
  size_t first = 0;
  for (; first + 16 <= count; first += 16) {
    for (size_t j = 0; j < 4; ++j) {
      for (size_t k = 0; k < 4; ++k) dst[first + 4 * j + k] = x[first + 4 * k + j];
    }
  }
  std::copy(x + first, x + count, dst + first);
}

void dot_rows(DType dtype, const void* weight, size_t rows, size_t in, const float* x, float* y) {
  HWY_DYNAMIC_DISPATCH(dot_rows_here)(dtype, weight, rows, in, x, y);
}

void decode_rows(DType dtype, const void* weight, size_t rows, size_t in, float* dst) {
  HWY_DYNAMIC_DISPATCH(decode_rows_here)(dtype, weight, rows, in, dst);
}

void dot_tiles(const float* a, size_t a_rows, size_t a_stride, const float* x, size_t x_rows, size_t x_stride,
               size_t in, float* y, size_t y_stride) {
  HWY_DYNAMIC_DISPATCH(dot_tiles_here)(a, a_rows, a_stride, x, x_rows, x_stride, in, y, y_stride);
}

}  // namespace rung
#endif
