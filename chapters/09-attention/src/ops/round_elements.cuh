// A copy of float32 elements in the type that tensor cores take.
#pragma once

#include "ops/elements.cuh"
#include "rung/device.h"

namespace rung {

// Grid: 1-D, one thread an element.
template <class Element>
__global__ void round_elements_kernel(Element* to, const float* from, int64_t elements) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < elements) store_rounded(to[i], from[i]);
}

// to[i] = from[i] to the nearest Element, ties to even; both on the device. Queued on its stream.
template <class Element>
void round_elements(Cuda& device, Element* to, const float* from, int64_t elements) {
  constexpr int kThreads = 256;
  if (elements == 0) return;
  const auto blocks = static_cast<unsigned>((elements + kThreads - 1) / kThreads);
  round_elements_kernel<<<blocks, kThreads, 0, device.stream()>>>(to, from, elements);
  RUNG_CUDA_CHECK_LAUNCH("round_elements");
}

}  // namespace rung
