// Matrix products against a plain loop in double: all transposes, leading dimensions, types, batches.
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cmath>

#include "device_array.h"
#include "testing/catch.h"
#include "testing/data.h"

using simt_tests::check;
using simt_tests::DeviceArray;

namespace {

struct Handle {
  cublasHandle_t handle = nullptr;
  Handle() { REQUIRE(cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS); }
  ~Handle() { cublasDestroy(handle); }
};

template <class T>
struct Type;
template <>
struct Type<float> {
  static constexpr cudaDataType_t value = CUDA_R_32F;
  static constexpr double epsilon = 1e-6;
};
template <>
struct Type<__half> {
  static constexpr cudaDataType_t value = CUDA_R_16F;
  static constexpr double epsilon = 1e-3;
};
template <>
struct Type<__nv_bfloat16> {
  static constexpr cudaDataType_t value = CUDA_R_16BF;
  static constexpr double epsilon = 8e-3;
};

template <class T>
std::vector<T> random_values(std::size_t n, unsigned seed) {
  const std::vector<float> floats = rung::testing::random_floats(n, seed);
  return std::vector<T>(floats.begin(), floats.end());
}

struct Shape {
  int m, n, k;
};

template <class In, class Out>
void check_product(const Shape& shape, bool transpose_a, bool transpose_b, int extra, float alpha,
                   float beta) {
  const int m = shape.m, n = shape.n, k = shape.k;
  const int lda = (transpose_a ? k : m) + extra, ldb = (transpose_b ? n : k) + extra, ldc = m + extra;
  const auto a = random_values<In>(static_cast<std::size_t>(lda * (transpose_a ? m : k)), 1);
  const auto b = random_values<In>(static_cast<std::size_t>(ldb * (transpose_b ? k : n)), 2);
  const auto c = random_values<Out>(static_cast<std::size_t>(ldc * n), 3);
  DeviceArray<In> da(a), db(b);
  DeviceArray<Out> dc(c);
  Handle handle;
  REQUIRE(cublasGemmEx(handle.handle, transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N,
                       transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N, m, n, k, &alpha, da.get(), Type<In>::value,
                       lda, db.get(), Type<In>::value, ldb, &beta, dc.get(), Type<Out>::value, ldc,
                       CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_SUCCESS);
  const std::vector<Out> result = dc.values();
  for (int column = 0; column < n; ++column) {
    for (int row = 0; row < ldc; ++row) {
      const std::size_t at = static_cast<std::size_t>(row + column * ldc);
      const double got = static_cast<double>(static_cast<float>(result[at])),
                   old = static_cast<double>(static_cast<float>(c[at]));
      if (row >= m) {
        if (got != old) FAIL("wrote between the columns of C");
        continue;
      }
      double sum = 0, magnitude = 0;
      for (int l = 0; l < k; ++l) {
        const double x = static_cast<double>(
            static_cast<float>(a[static_cast<std::size_t>(transpose_a ? l + row * lda : row + l * lda)]));
        const double y = static_cast<double>(static_cast<float>(
            b[static_cast<std::size_t>(transpose_b ? column + l * ldb : l + column * ldb)]));
        sum += x * y;
        magnitude += std::fabs(x * y);
      }
      const double product = alpha * sum, added = beta == 0 ? 0 : beta * old, expected = product + added;
      // Operands that are exact in 16 bits multiply exactly; sums are float (TF32 is off), results round to
      // Out: on a GPU the product may, before C is added.
      if (std::fabs(got - expected) >
          1e-5 * (magnitude + 1) + Type<Out>::epsilon * (std::fabs(product) + std::fabs(added)))
        FAIL("C(" << row << "," << column << ") is " << got << ", expected " << expected);
    }
  }
}

}  // namespace

TEST_CASE("products of every transpose, shape and leading dimension", "[simt][cublas]") {
  for (const Shape& shape :
       {Shape{1, 1, 1}, {7, 5, 3}, {64, 96, 256}, {65, 97, 257}, {130, 1, 31}, {1, 33, 300}})
    for (int transposes = 0; transposes < 4; ++transposes)
      check_product<float, float>(shape, transposes & 1, transposes & 2, transposes == 3 ? 3 : 0, 1.5f,
                                  transposes == 2 ? 0.5f : 0.0f);
}

TEST_CASE("products of 16-bit operands with 32- and 16-bit results", "[simt][cublas]") {
  const Shape shape{40, 24, 72};
  check_product<__half, float>(shape, true, false, 0, 1.0f, 0.0f);
  check_product<__half, __half>(shape, true, false, 8, 1.0f, 1.0f);
  check_product<__nv_bfloat16, float>(shape, false, false, 0, 1.0f, 0.0f);
  check_product<__nv_bfloat16, __nv_bfloat16>(shape, true, false, 8, 0.125f, 0.0f);
}

TEST_CASE("beta 0 ignores what is in C, NaN included", "[simt][cublas]") {
  DeviceArray<float> a(std::vector<float>{2}), b(std::vector<float>{3}), c(std::vector<float>{NAN});
  Handle handle;
  const float one = 1, zero = 0;
  REQUIRE(cublasSgemm(handle.handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, a.get(), 1, b.get(), 1, &zero,
                      c.get(), 1) == CUBLAS_STATUS_SUCCESS);
  REQUIRE(c.values()[0] == 6.0f);
}

TEST_CASE("strided and pointer batches", "[simt][cublas]") {
  // Batch i: A = (i+1) * identity of 2, B = [1 2; 3 4] by columns.
  std::vector<float> a, b{1, 3, 2, 4};
  for (int i = 0; i < 3; ++i) a.insert(a.end(), {float(i + 1), 0, 0, float(i + 1)});
  DeviceArray<float> da(a), db(b), dc(12);
  Handle handle;
  const float one = 1, zero = 0;
  REQUIRE(cublasGemmStridedBatchedEx(handle.handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, da.get(),
                                     CUDA_R_32F, 2, 4, db.get(), CUDA_R_32F, 2, 0, &zero, dc.get(),
                                     CUDA_R_32F, 2, 4, 3, CUBLAS_COMPUTE_32F,
                                     CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_SUCCESS);
  const std::vector<float> expected{1, 3, 2, 4, 2, 6, 4, 8, 3, 9, 6, 12};
  REQUIRE(dc.values() == expected);
  check(cudaMemset(dc.get(), 0, 12 * sizeof(float)));
  DeviceArray<const void*> pa(std::vector<const void*>{da.get(), da.get() + 4, da.get() + 8});
  DeviceArray<const void*> pb(std::vector<const void*>{db.get(), db.get(), db.get()});
  DeviceArray<void*> pc(std::vector<void*>{dc.get(), dc.get() + 4, dc.get() + 8});
  REQUIRE(cublasGemmBatchedEx(handle.handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, pa.get(), CUDA_R_32F, 2,
                              pb.get(), CUDA_R_32F, 2, &zero, pc.get(), CUDA_R_32F, 2, 3, CUBLAS_COMPUTE_32F,
                              CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_SUCCESS);
  REQUIRE(dc.values() == expected);
}

TEST_CASE("a leading dimension that is too small is refused", "[simt][cublas]") {
  DeviceArray<float> a(16), b(16), c(16);
  Handle handle;
  const float one = 1, zero = 0;
  REQUIRE(cublasSgemm(handle.handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, &one, a.get(), 3, b.get(), 4, &zero,
                      c.get(), 4) == CUBLAS_STATUS_INVALID_VALUE);
  REQUIRE(cublasSgemm(handle.handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, &one, a.get(), 4, b.get(), 4, &zero,
                      c.get(), 3) == CUBLAS_STATUS_INVALID_VALUE);
}

#if RUNG_CUDA_EMULATED
TEST_CASE("an element of a product does not depend on the shape around it", "[simt][cublas]") {
  const int k = 700;
  const auto a = random_values<float>(static_cast<std::size_t>(100 * k), 5),
             b = random_values<float>(static_cast<std::size_t>(33 * k), 6);
  DeviceArray<float> da(a), db(b);
  Handle handle;
  const float one = 1, zero = 0;
  std::vector<float> whole;
  for (int n : {33, 1, 2, 7}) {
    DeviceArray<float> dc(static_cast<std::size_t>(100 * n));
    REQUIRE(cublasSgemm(handle.handle, CUBLAS_OP_T, CUBLAS_OP_N, 100, n, k, &one, da.get(), k, db.get(), k,
                        &zero, dc.get(), 100) == CUBLAS_STATUS_SUCCESS);
    const std::vector<float> part = dc.values();
    if (n == 33) whole = part;
    REQUIRE(std::vector<float>(whole.begin(), whole.begin() + 100 * n) == part);
  }
}
#endif
