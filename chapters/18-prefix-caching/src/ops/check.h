// What every operation checks before it touches memory: shape, type and place of its operands.
#pragma once

#include "tensor/tensor.h"

namespace rung {

// Throws Error naming the operand ("rms_norm: weight"), what was found and what was expected.
void check_operand(const char* what, const Tensor& tensor, DType dtype, const Shape& shape, Place place);
// The same for operands of any type.
void check_operand(const char* what, const Tensor& tensor, const Shape& shape, Place place);

}  // namespace rung
