// What both devices check before a norm.
#pragma once

#include "ops/check.h"

namespace rung {

inline void check_rms_norm(const Tensor& y, const Tensor& x, const Tensor& weight, Place place) {
  const Shape rows = {x.shape().rows(), x.shape().columns()};
  check_operand("rms_norm: x", x, DType::f32, rows, place);
  check_operand("rms_norm: y", y, DType::f32, rows, place);
  check_operand("rms_norm: weight", weight, DType::f32, {rows.columns()}, place);
}

inline void check_add_rms_norm(const Tensor& y, const Tensor& residual, const Tensor& x, const Tensor& weight,
                               Place place) {
  check_rms_norm(y, x, weight, place);
  check_operand("add_rms_norm: residual", residual, DType::f32, x.shape(), place);
}

}  // namespace rung
