// The sizes of a matrix product, checked in one place for every device.
#pragma once

#include "tensor/tensor.h"

namespace rung {

struct MatmulShape {
  int64_t rows, out, in;
};

// Throws Error naming what does not fit unless y [rows, out], x [rows, in], weight [out, in] and bias [out]
// or empty agree and lie in that place, with y, x and bias float32.
MatmulShape check_matmul(const Tensor& y, const Tensor& x, const Tensor& weight, const Tensor& bias,
                         Place place);

}  // namespace rung
