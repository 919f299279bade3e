// Greedy choice: the index of the largest value of each row; the lowest index among equals. NaN never wins; a
// row of nothing but NaN gives -1.
#pragma once

#include "rung/device.h"
#include "tensor/tensor.h"

namespace rung {

// ids [rows] i32; logits [rows, vocabulary] f32.
void argmax(Cpu& device, Tensor& ids, const Tensor& logits);
void argmax(Cuda& device, Tensor& ids, const Tensor& logits);

}  // namespace rung
