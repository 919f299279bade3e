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
HWY_INLINE float fold(const Group& sums) {
  const hn::Full128<float> four;
  alignas(64) float lanes[kGroup];
  store_group(sums, lanes);
  const auto low = hn::Add(hn::Load(four, lanes), hn::Load(four, lanes + 8));
  const auto high = hn::Add(hn::Load(four, lanes + 4), hn::Load(four, lanes + 12));
  hn::Store(hn::Add(low, high), four, lanes);
  return (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
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

// A tile of the product held in registers: kA rows of a by kX rows of x, sixteen partial sums each. It is as
// large as the register file allows, so that each loaded vector is used kA or kX times.
constexpr size_t kA = kVectors == 1 ? 4 : HWY_TARGET == HWY_NEON ? 2 : kVectors == 2 ? 2 : 1;
constexpr size_t kX = kVectors == 1 ? 6 : 3;

// sums[(p * kX + c) * kA + r] is vector p of output (a row r, x row c).
template <size_t... j>
HWY_INLINE void tile_step(const float* const (&a)[kA], const float* const (&x)[kX], size_t i, VF* sums,
                          Indices<j...>) {
  ((sums[j] = hn::MulAdd(hn::LoadU(DF(), a[j % kA] + i + j / (kA * kX) * kLanes),
                         hn::LoadU(DF(), x[j / kA % kX] + i + j / (kA * kX) * kLanes), sums[j])),
   ...);
}

template <size_t... j>
HWY_INLINE void dot_tile(const float* const (&a)[kA], const float* const (&x)[kX], size_t in,
                         float (&y)[kA * kX], Indices<j...> all) {
  VF sums[sizeof...(j)] = {(static_cast<void>(j), hn::Zero(DF()))...};
  const size_t whole = in / kGroup * kGroup;
  for (size_t i = 0; i < whole; i += kGroup) tile_step(a, x, i, sums, all);
  if (whole < in) {
    float padded[kA + kX][kGroup] = {};
    const float *last_a[kA], *last_x[kX];
    for (size_t r = 0; r < kA; ++r)
      last_a[r] = std::copy_n(a[r] + whole, in - whole, padded[r]) - (in - whole);
    for (size_t c = 0; c < kX; ++c)
      last_x[c] = std::copy_n(x[c] + whole, in - whole, padded[kA + c]) - (in - whole);
    tile_step(last_a, last_x, 0, sums, all);
  }
  for (size_t k = 0; k < kA * kX; ++k) {
    Group group;
    for (size_t p = 0; p < kVectors; ++p) group.v[p] = sums[p * kA * kX + k];
    y[k] = fold(group);
  }
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
      dot_tile(tile_a, tile_x, in, tile, std::make_index_sequence<kA * kX * kVectors>());
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
