// The residual addition on CUDA.
#include "ops/add.h"
#include "ops/elementwise_checks.h"
#include "ops/elementwise_cuda.cuh"

namespace rung {

namespace {

struct Add {
  float* y;
  const float* x;
  __device__ void operator()(int64_t i) const { y[i] += x[i]; }
};

}  // namespace

void add(Cuda& device, Tensor& y, const Tensor& x) {
  check_elementwise("add: an operand", y, {&x}, Place::device);
  for_each_element(device, y.elements(), Add{y.data<float>(), x.data<float>()});
  RUNG_CUDA_CHECK_LAUNCH("add");
}

}  // namespace rung
