// CUDA conversion from float32: one thread an element.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "ops/convert.h"
#include "rung/error.h"

namespace rung {

namespace {

constexpr int kThreads = 256;

__device__ void round_to(float& y, float x) {
  y = x;
}
__device__ void round_to(__half& y, float x) {
  y = __float2half_rn(x);
}
__device__ void round_to(__nv_bfloat16& y, float x) {
  y = __float2bfloat16_rn(x);
}

// Grid: ceil(elements / kThreads) blocks of kThreads.
template <class T>
__global__ void convert_kernel(T* y, const float* x, int64_t elements) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < elements) round_to(y[i], x[i]);
}

template <class T>
void launch(Cuda& device, Tensor& y, const Tensor& x) {
  const int64_t elements = x.elements();
  convert_kernel<<<static_cast<unsigned>((elements + kThreads - 1) / kThreads), kThreads, 0,
                   device.stream()>>>(static_cast<T*>(y.raw()), x.data<float>(), elements);
  RUNG_CUDA_CHECK_LAUNCH("convert_kernel");
}

}  // namespace

void convert(Cuda& device, Tensor& y, const Tensor& x) {
  if (y.elements() != x.elements())
    fail("convert: ", x.elements(), " elements do not fit ", y.shape().text());
  if (x.elements() == 0) return;
  if (y.dtype() == DType::f32) return launch<float>(device, y, x);
  if (y.dtype() == DType::f16) return launch<__half>(device, y, x);
  if (y.dtype() == DType::bf16) return launch<__nv_bfloat16>(device, y, x);
  fail("convert: the target is ", name(y.dtype()), ", expected F32, F16 or BF16");
}

}  // namespace rung
