// Element-wise work on CUDA: one thread an element, whatever is done to it.
#pragma once

#include "rung/device.h"

namespace rung {

// Grid: enough blocks of blockDim.x threads for `count` elements, one thread an element: function(index).
template <class Function>
__global__ void each_element_kernel(int64_t count, Function function) {
  const int64_t index = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (index < count) function(index);
}

// Function: a struct with a __device__ operator()(int64_t index) const; a copy of it travels to the device.
template <class Function>
void for_each_element(Cuda& device, int64_t count, Function function) {
  constexpr int kThreads = 256;
  if (count == 0) return;
  const unsigned blocks = static_cast<unsigned>((count + kThreads - 1) / kThreads);
  each_element_kernel<<<blocks, kThreads, 0, device.stream()>>>(count, function);
}

}  // namespace rung
