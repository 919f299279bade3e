// Keys and values into the cache on CUDA: one thread an element, keys and values in one launch.
#include "ops/store_kv.h"

#include "ops/elements.cuh"
#include "ops/store_kv_checks.h"
#include "rung/not_done.h"

namespace rung {

namespace {

constexpr int kThreads = 256;

// Grid: enough blocks of kThreads for tokens * width, 2; blockIdx.y 0 stores keys, 1 values. k, v [tokens,
// width]; keys, values [rows, width]; each slot in [-1, rows).
template <class Element>
__global__ void store_kv_kernel(Element* keys, Element* values, const float* k, const float* v,
                                const int32_t* slot_mapping, int64_t tokens, int64_t width) {
  // BEGIN SOLUTION 14.1
  const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= tokens * width) return;
  const int64_t slot = slot_mapping[i / width];
  if (slot < 0) return;
  const int64_t to = slot * width + i % width;
  store_rounded((blockIdx.y == 0 ? keys : values)[to], (blockIdx.y == 0 ? k : v)[i]);
  // STUB: RUNG_NOT_DONE("14.1");
  // END SOLUTION
}

}  // namespace

void store_kv(Cuda& device, Tensor& keys, Tensor& values, const Tensor& k, const Tensor& v,
              const Tensor& slot_mapping) {
  check_store_kv(keys, values, k, v, slot_mapping, Place::device);
  const int64_t tokens = slot_mapping.elements(), width = k.shape()[1];
  if (tokens * width == 0) return;
  const dim3 grid(static_cast<unsigned>((tokens * width + kThreads - 1) / kThreads), 2);
  with_elements("store_kv: keys", keys, [&](auto* to_keys) {
    store_kv_kernel<<<grid, kThreads, 0, device.stream()>>>(
        to_keys, static_cast<decltype(to_keys)>(values.raw()), k.data<float>(), v.data<float>(),
        slot_mapping.data<int32_t>(), tokens, width);
  });
  RUNG_CUDA_CHECK_LAUNCH("store_kv");
}

}  // namespace rung
