// A copy of float32 elements in the type that tensor cores take.
#pragma once

#include "ops/elements.cuh"
#include "ops/vector.cuh"
#include "rung/device.h"

namespace rung {

// Grid: 1-D, one thread for kWidth neighbouring elements. elements is a multiple of kWidth, to and from are
// aligned to as many.
template <int kWidth, class Element>
__global__ void round_elements_kernel(Element* to, const float* from, int64_t elements) {
  const int64_t first = (static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) * kWidth;
  if (first >= elements) return;
  const auto values = load_vector<kWidth>(from + first);
  Vector<Element, kWidth> rounded;
  for (int i = 0; i < kWidth; ++i) store_rounded(rounded.elements[i], values.elements[i]);
  store_vector(to + first, rounded);
}

// to[i] = from[i] to the nearest Element, ties to even; both on the device. Queued on its stream.
template <class Element>
void round_elements(Cuda& device, Element* to, const float* from, int64_t elements) {
  constexpr int kThreads = 256;
  if (elements == 0) return;
  const bool vectors = elements % 4 == 0 && is_aligned<4>(to) && is_aligned<4>(from);
  const int64_t threads = vectors ? elements / 4 : elements;
  const auto kernel = vectors ? round_elements_kernel<4, Element> : round_elements_kernel<1, Element>;
  const auto blocks = static_cast<unsigned>((threads + kThreads - 1) / kThreads);
  kernel<<<blocks, kThreads, 0, device.stream()>>>(to, from, elements);
  RUNG_CUDA_CHECK_LAUNCH("round_elements");
}

}  // namespace rung
