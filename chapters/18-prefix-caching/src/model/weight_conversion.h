// Weights in another 16-bit type than the file stores.
#pragma once

#include "tensor/tensor.h"

namespace rung {

// A host tensor of any dtype as f16 or bf16, rounded to nearest even; itself if
// it is of that dtype already. Throws Error for any other target.
Tensor converted(const Tensor& tensor, DType dtype);

}  // namespace rung
