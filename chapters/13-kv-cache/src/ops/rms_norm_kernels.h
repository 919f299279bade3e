// The kernels of RMSNorm, each callable by name so that tests and measurements can set them side by side.
// rms_norm() uses the last. Operands as in rms_norm().
#pragma once

#include "rung/device.h"
#include "tensor/tensor.h"

namespace rung {

// One thread walks a whole row.
void rms_norm_one_thread(Cuda& device, Tensor& y, const Tensor& x, const Tensor& weight, float epsilon);

// One block of 256 threads a row; their partial sums meet in a tree in shared memory.
void rms_norm_shared_tree(Cuda& device, Tensor& y, const Tensor& x, const Tensor& weight, float epsilon);

// One block of 32 to 1,024 threads a row; the threads of a warp add their partial sums through registers.
void rms_norm_warp_shuffles(Cuda& device, Tensor& y, const Tensor& x, const Tensor& weight, float epsilon);

// The same, and a thread moves four columns at once where the number of columns is a multiple of four.
void rms_norm_vectors(Cuda& device, Tensor& y, const Tensor& x, const Tensor& weight, float epsilon);

}  // namespace rung
