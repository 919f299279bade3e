// CUDA conversion from float32: one thread an element.
#include "ops/convert.h"

#include "ops/round_elements.cuh"
#include "rung/error.h"

namespace rung {

namespace {

template <class T>
void launch(Cuda& device, Tensor& y, const Tensor& x) {
  round_elements(device, static_cast<T*>(y.raw()), x.data<float>(), x.elements());
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
