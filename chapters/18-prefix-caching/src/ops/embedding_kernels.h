// The two kernels of the embedding, each callable by name so that tests and measurements can set them side by
// side. embedding() uses the second wherever it may.
#pragma once

#include "rung/device.h"
#include "tensor/tensor.h"

namespace rung {

// One thread for each element of y.
void embedding_one_element(Cuda& device, Tensor& y, const Tensor& table, const Tensor& ids);

// One thread for four neighbouring elements of y, read and written at once. hidden must be a multiple of 4
// and table and y aligned for it: embedding_can_vectorise() says whether.
void embedding_four_elements(Cuda& device, Tensor& y, const Tensor& table, const Tensor& ids);
bool embedding_can_vectorise(const Tensor& y, const Tensor& table);

}  // namespace rung
