// Element-wise work on CUDA: element i of the output from elements i of the inputs, whatever is done to them.
#pragma once

#include "ops/vector.cuh"
#include "rung/device.h"

namespace rung {

// y[i] = function(inputs[i] …). Grid: enough blocks of blockDim.x threads for one thread in kWidth
// neighbouring elements. count is a multiple of kWidth, and all pointers are aligned to kWidth floats. y may
// be one of the inputs: a thread reads its elements before it writes them.
template <int kWidth, class Function, class... Inputs>
__global__ void each_element_kernel(float* y, int64_t count, Function function, Inputs... inputs) {
  const int64_t first = (static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) * kWidth;
  if (first >= count) return;
  const auto results_of = [&](const auto&... parts) {
    Vector<float, kWidth> results;
    for (int i = 0; i < kWidth; ++i) results.elements[i] = function(parts.elements[i]...);
    return results;
  };
  store_vector(y + first, results_of(load_vector<kWidth>(inputs + first)...));
}

// Function: a struct with a __device__ float operator()(float …) const, an argument for each of the inputs; a
// copy of it travels to the device.
template <class Function, class... Inputs>
void for_each_element(Cuda& device, float* y, int64_t count, Function function, const Inputs*... inputs) {
  constexpr int kThreads = 256;
  const auto blocks = [](int64_t threads) {
    return static_cast<unsigned>((threads + kThreads - 1) / kThreads);
  };
  if (count == 0) return;
  if (count % 4 == 0 && is_aligned<4>(y) && (is_aligned<4>(inputs) && ...)) {
    each_element_kernel<4>
        <<<blocks(count / 4), kThreads, 0, device.stream()>>>(y, count, function, inputs...);
  } else {
    each_element_kernel<1><<<blocks(count), kThreads, 0, device.stream()>>>(y, count, function, inputs...);
  }
}

}  // namespace rung
