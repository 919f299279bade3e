// The three types that CUDA kernels compute with, as C++ types.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "rung/error.h"
#include "tensor/tensor.h"

namespace rung {

__device__ inline float to_float(float value) {
  return value;
}
__device__ inline float to_float(__half value) {
  return __half2float(value);
}
__device__ inline float to_float(__nv_bfloat16 value) {
  return __bfloat162float(value);
}

// Rounded to nearest, ties to even.
__device__ inline void store_rounded(float& to, float value) {
  to = value;
}
__device__ inline void store_rounded(__half& to, float value) {
  to = __float2half_rn(value);
}
__device__ inline void store_rounded(__nv_bfloat16& to, float value) {
  to = __float2bfloat16_rn(value);
}

// Calls use(pointer) with the tensor's elements as float, __half or __nv_bfloat16. Throws Error naming `what`
// for other types.
template <class Use>
void with_elements(const char* what, const Tensor& tensor, Use use) {
  switch (tensor.dtype()) {
    case DType::f32:
      return use(tensor.data<float>());
    case DType::f16:
      return use(reinterpret_cast<__half*>(tensor.data<f16_t>()));
    case DType::bf16:
      return use(reinterpret_cast<__nv_bfloat16*>(tensor.data<bf16_t>()));
    default:
      fail(what, " on CUDA needs F32, F16 or BF16, not ", name(tensor.dtype()));
  }
}

}  // namespace rung
