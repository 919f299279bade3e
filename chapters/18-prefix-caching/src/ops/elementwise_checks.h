// What element-wise operations check on both devices: operands of one shape.
#pragma once

#include <initializer_list>

#include "ops/check.h"

namespace rung {

// `what` names the operands: "add: an operand". All operands must be float32, of y's shape, at `place`.
inline void check_elementwise(const char* what, const Tensor& y, std::initializer_list<const Tensor*> inputs,
                              Place place) {
  check_operand(what, y, DType::f32, y.shape(), place);
  for (const Tensor* input : inputs) check_operand(what, *input, DType::f32, y.shape(), place);
}

}  // namespace rung
