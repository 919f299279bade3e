// Softmax of a row and weighted sums of value rows on the CPU.
#include "ops/attention_rows.h"

#include <algorithm>
#include <limits>
#include <utility>

// The targets of ops/dot.cpp.
#define HWY_DISABLED_TARGETS (HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#if defined(__x86_64__)
#define HWY_BASELINE_TARGETS HWY_SSE4
#endif
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/attention_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace rung {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr size_t kGroup = 16;
using DF = hn::CappedTag<float, kGroup>;
using VF = hn::Vec<DF>;
constexpr size_t kLanes = hn::MaxLanes(DF());

float fold(const float* lanes) {
  float sums[8];
  for (size_t i = 0; i < 8; ++i) sums[i] = lanes[i] + lanes[i + 8];
  for (size_t i = 0; i < 4; ++i) sums[i] += sums[i + 4];
  return (sums[0] + sums[2]) + (sums[1] + sums[3]);
}

SoftmaxState softmax_numerators_here(float* scores, size_t count, float scale) {
  float maximum = -std::numeric_limits<float>::infinity();
  const size_t whole = count / kGroup * kGroup;
  VF largest = hn::Set(DF(), maximum);
  for (size_t i = 0; i < whole; i += kLanes) {
    const VF scaled = hn::Mul(hn::LoadU(DF(), scores + i), hn::Set(DF(), scale));
    hn::StoreU(scaled, DF(), scores + i);
    largest = hn::Max(largest, scaled);
  }
  maximum = hn::GetLane(hn::MaxOfLanes(DF(), largest));
  for (size_t i = whole; i < count; ++i) maximum = std::max(maximum, scores[i] *= scale);

  alignas(64) float sums[kGroup] = {}, last[kGroup] = {};
  const bool none = maximum == -std::numeric_limits<float>::infinity();  // all exponentials are 0 then
  const VF shift = hn::Set(DF(), none ? 0 : maximum);
  const auto exponentials = [&](const float* from, float* to) HWY_ATTR {
    for (size_t i = 0; i < kGroup; i += kLanes) {
      const VF value = hn::Exp(DF(), hn::Sub(hn::LoadU(DF(), from + i), shift));
      hn::StoreU(value, DF(), to + i);
    }
  };
  for (size_t i = 0; i < whole; i += kGroup) {
    exponentials(scores + i, scores + i);
    for (size_t l = 0; l < kGroup; l += kLanes) {
      hn::Store(hn::Add(hn::Load(DF(), sums + l), hn::LoadU(DF(), scores + i + l)), DF(), sums + l);
    }
  }
  if (whole < count) {
    std::copy(scores + whole, scores + count, last);
    exponentials(last, last);
    std::copy_n(last, count - whole, scores + whole);
    for (size_t l = 0; l < count - whole; ++l) sums[l] += last[l];
  }
  return {maximum, fold(sums)};
}

// A tile of sums in registers: kRows rows by kColumns vectors.
template <size_t kRows, size_t kColumns, size_t... j>
HWY_INLINE void add_weighted_tile(float* const (&y)[kRows], const float* const (&weights)[kRows],
                                  const float* v, size_t v_stride, size_t count, std::index_sequence<j...>) {
  VF sums[kRows * kColumns] = {hn::LoadU(DF(), y[j / kColumns] + j % kColumns * kLanes)...};
  for (size_t key = 0; key < count; ++key, v += v_stride) {
    ((sums[j] = hn::MulAdd(hn::Set(DF(), weights[j / kColumns][key]),
                           hn::LoadU(DF(), v + j % kColumns * kLanes), sums[j])),
     ...);
  }
  (hn::StoreU(sums[j], DF(), y[j / kColumns] + j % kColumns * kLanes), ...);
}

template <size_t kRows>
void add_weighted_few(float* y, size_t y_stride, const float* weights, size_t weights_stride, const float* v,
                      size_t v_stride, size_t count, size_t head_dim) {
  constexpr size_t kColumns = 4;
  float* row_y[kRows];
  const float* row_weights[kRows];
  for (size_t r = 0; r < kRows; ++r) row_weights[r] = weights + r * weights_stride;
  size_t d = 0;
  for (; d + kColumns * kLanes <= head_dim; d += kColumns * kLanes) {
    for (size_t r = 0; r < kRows; ++r) row_y[r] = y + r * y_stride + d;
    add_weighted_tile<kRows, kColumns>(row_y, row_weights, v + d, v_stride, count,
                                       std::make_index_sequence<kRows * kColumns>());
  }
  for (; d + kLanes <= head_dim; d += kLanes) {
    for (size_t r = 0; r < kRows; ++r) row_y[r] = y + r * y_stride + d;
    add_weighted_tile<kRows, 1>(row_y, row_weights, v + d, v_stride, count,
                                std::make_index_sequence<kRows>());
  }
  for (; d < head_dim; ++d) {
    for (size_t r = 0; r < kRows; ++r) {
      float sum = y[r * y_stride + d];
      for (size_t key = 0; key < count; ++key) sum += row_weights[r][key] * v[key * v_stride + d];
      y[r * y_stride + d] = sum;
    }
  }
}

void add_weighted_rows_here(float* y, size_t y_stride, size_t rows, const float* weights,
                            size_t weights_stride, const float* v, size_t v_stride, size_t count,
                            size_t head_dim) {
  size_t r = 0;
  for (; r + 3 <= rows; r += 3) {
    add_weighted_few<3>(y + r * y_stride, y_stride, weights + r * weights_stride, weights_stride, v, v_stride,
                        count, head_dim);
  }
  for (; r < rows; ++r) {
    add_weighted_few<1>(y + r * y_stride, y_stride, weights + r * weights_stride, weights_stride, v, v_stride,
                        count, head_dim);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace rung
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rung {

HWY_EXPORT(softmax_numerators_here);
HWY_EXPORT(add_weighted_rows_here);

SoftmaxState softmax_numerators(float* scores, size_t count, float scale) {
  return HWY_DYNAMIC_DISPATCH(softmax_numerators_here)(scores, count, scale);
}

void add_weighted_rows(float* y, size_t y_stride, size_t rows, const float* weights, size_t weights_stride,
                       const float* v, size_t v_stride, size_t count, size_t head_dim) {
  HWY_DYNAMIC_DISPATCH(add_weighted_rows_here)
  (y, y_stride, rows, weights, weights_stride, v, v_stride, count, head_dim);
}

}  // namespace rung
#endif
