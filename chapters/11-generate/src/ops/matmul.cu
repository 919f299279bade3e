// Matrix product on CUDA: cuBLAS for many rows, the warp-per-row kernel for one.
#include "ops/matmul.h"

#include "ops/matmul_kernels.h"
#include "ops/matmul_shape.h"
#include "ops/round_elements.cuh"
#include "rung/error.h"

namespace rung {

namespace {

// One thread an element of y [rows, out].
__global__ void add_bias_kernel(float* y, const float* bias, int64_t out, int64_t elements) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < elements) y[i] += bias[i % out];
}

// x in the weight's 16-bit type, in the device's workspace.
template <class Half>
const void* rounded(Cuda& device, const Tensor& x) {
  auto* copy = static_cast<Half*>(device.workspace(static_cast<size_t>(x.elements()) * sizeof(Half)));
  round_elements(device, copy, x.data<float>(), x.elements());
  return copy;
}

// Whether the warp-per-row kernel is the faster one. (On an H200: for one row, and for no more in bfloat16.)
bool use_gemv(int64_t rows) {
  // The emulator's cuBLAS sums every element in an order that the number of rows does not change. With one
  // implementation for all of them, a row's result does not depend on its batch.
  return !kCudaEmulated && rows == 1;
}

}  // namespace

void matmul_cublas(Cuda& device, Tensor& y, const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const MatmulShape shape = check_matmul(y, x, weight, bias, Place::device);
  if (y.elements() == 0) return;
  const void* inputs = x.raw();
  cudaDataType_t type = CUDA_R_32F;
  switch (weight.dtype()) {
    case DType::f32:
      break;
    case DType::f16:
      inputs = rounded<__half>(device, x), type = CUDA_R_16F;
      break;
    case DType::bf16:
      inputs = rounded<__nv_bfloat16>(device, x), type = CUDA_R_16BF;
      break;
    default:
      fail("matmul on CUDA needs a weight in F32, F16 or BF16, not ", name(weight.dtype()));
  }
  const int rows = static_cast<int>(shape.rows), out = static_cast<int>(shape.out),
            in = static_cast<int>(shape.in);
  const float one = 1, zero = 0;
  // BEGIN SOLUTION 07.3
  // Read column by column, as cuBLAS does, our row-major y [rows, out] is y^T, a matrix of out rows and
  // `rows` columns. y^T = weight * x^T: x in memory is x^T already (in x rows), weight is its own transpose
  // (in x out), hence OP_T.
  RUNG_CUBLAS_CHECK(cublasGemmEx(device.cublas(), CUBLAS_OP_T, CUBLAS_OP_N, out, rows, in, &one,  //
                                 weight.raw(), type, in, inputs, type, in, &zero,                 //
                                 y.raw(), CUDA_R_32F, out, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
  // STUB: not_done("07.3");
  // END SOLUTION
  if (bias.empty()) return;
  constexpr int kThreads = 256;
  const auto blocks = static_cast<unsigned>((y.elements() + kThreads - 1) / kThreads);
  add_bias_kernel<<<blocks, kThreads, 0, device.stream()>>>(y.data<float>(), bias.data<float>(), shape.out,
                                                            y.elements());
  RUNG_CUDA_CHECK_LAUNCH("add_bias");
}

void matmul(Cuda& device, Tensor& y, const Tensor& x, const Tensor& weight, const Tensor& bias) {
  (use_gemv(x.shape().rows()) ? matmul_gemv : matmul_cublas)(device, y, x, weight, bias);
}

}  // namespace rung
