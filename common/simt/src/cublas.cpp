// cuBLAS's matrix products on the CPU: operands are packed as float, a tile of C is summed in registers. See
// cublas_v2.h for the order of summation, which the tests of batch invariance rely on.
#include "cublas_v2.h"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "error.h"
#include "memory.h"
#include "pool.h"
#include "stream.h"

struct cublasContext {
  cudaStream_t stream = nullptr;
  cublasMath_t math = CUBLAS_DEFAULT_MATH;
};

namespace simt {
namespace {

constexpr int tile_m = 8;     // rows of C in registers
constexpr int tile_n = 6;     // columns of C in registers
constexpr int block_k = 256;  // products summed before they are added to the element's total
constexpr int block_m = 64;   // rows of C in one piece of work
constexpr int block_n = 96;   // columns

std::size_t element_bytes(cudaDataType_t type) {
  return type == CUDA_R_32F ? 4 : 2;
}
bool supported(cudaDataType_t type) {
  return type == CUDA_R_32F || type == CUDA_R_16F || type == CUDA_R_16BF;
}

float load(const void* base, cudaDataType_t type, std::size_t i) {
  switch (type) {
    case CUDA_R_16F:
      return half_bits_to_float(static_cast<const std::uint16_t*>(base)[i]);
    case CUDA_R_16BF:
      return bfloat16_bits_to_float(static_cast<const std::uint16_t*>(base)[i]);
    default:
      return static_cast<const float*>(base)[i];
  }
}

void store(void* base, cudaDataType_t type, std::size_t i, float value) {
  switch (type) {
    case CUDA_R_16F:
      static_cast<std::uint16_t*>(base)[i] = float_to_half_bits(value);
      break;
    case CUDA_R_16BF:
      static_cast<std::uint16_t*>(base)[i] = float_to_bfloat16_bits(value);
      break;
    default:
      static_cast<float*>(base)[i] = value;
  }
}

struct Product {
  bool transpose_a, transpose_b;
  int m, n, k;
  float alpha, beta;
  const void* a;
  cudaDataType_t type_a;
  std::size_t lda;
  const void* b;
  cudaDataType_t type_b;
  std::size_t ldb;
  void* c;
  cudaDataType_t type_c;
  std::size_t ldc;
};

/// One step of the inner index: sum[j][i] += a[i] * b[j], multiplied and added separately.
inline __attribute__((always_inline)) void tile_product(const float* __restrict a, const float* __restrict b,
                                                        int k, float (&total)[tile_n][tile_m]) {
  float sum[tile_n][tile_m] = {};
  for (int l = 0; l < k; ++l) {
    for (int j = 0; j < tile_n; ++j) {
      const float y = b[l * tile_n + j];
      for (int i = 0; i < tile_m; ++i) sum[j][i] += a[l * tile_m + i] * y;
    }
  }
  for (int j = 0; j < tile_n; ++j)
    for (int i = 0; i < tile_m; ++i) total[j][i] += sum[j][i];
}

__attribute__((target("avx2"))) void tile_product_avx2(const float* a, const float* b, int k,
                                                       float (&total)[tile_n][tile_m]) {
  tile_product(a, b, k, total);
}
void tile_product_plain(const float* a, const float* b, int k, float (&total)[tile_n][tile_m]) {
  tile_product(a, b, k, total);
}

inline float as_float(float value) {
  return value;
}
struct HalfBits {
  std::uint16_t bits;
};
struct Bfloat16Bits {
  std::uint16_t bits;
};
inline float as_float(HalfBits value) {
  return half_bits_to_float(value.bits);
}
inline float as_float(Bfloat16Bits value) {
  return bfloat16_bits_to_float(value.bits);
}

/// Lays out `count` vectors (rows of op(A), columns of op(B)) from number `first` on, elements k0 to k0 +
/// depth of each, as tiles of `width` vectors: element l of the tile's vector i at l * width + i.
/// `contiguous`: a vector's elements are neighbours in memory.
template <class T>
void pack_as(const T* source, std::size_t ld, bool contiguous, int first, int count, int width, int k0,
             int depth, float* out) {
  for (int begin = 0; begin < count; begin += width, out += static_cast<std::size_t>(width) * block_k) {
    for (int i = 0; i < width; ++i) {
      if (begin + i >= count) {
        for (int l = 0; l < depth; ++l) out[l * width + i] = 0.0f;
        continue;
      }
      const std::size_t vector = static_cast<std::size_t>(first + begin + i),
                        element = static_cast<std::size_t>(k0);
      const T* from = contiguous ? source + vector * ld + element : source + element * ld + vector;
      const std::size_t step = contiguous ? 1 : ld;
      for (int l = 0; l < depth; ++l) out[l * width + i] = as_float(from[static_cast<std::size_t>(l) * step]);
    }
  }
}

void pack(const void* source, cudaDataType_t type, std::size_t ld, bool contiguous, int first, int count,
          int width, int k0, int depth, float* out) {
  switch (type) {
    case CUDA_R_16F:
      return pack_as(static_cast<const HalfBits*>(source), ld, contiguous, first, count, width, k0, depth,
                     out);
    case CUDA_R_16BF:
      return pack_as(static_cast<const Bfloat16Bits*>(source), ld, contiguous, first, count, width, k0, depth,
                     out);
    default:
      return pack_as(static_cast<const float*>(source), ld, contiguous, first, count, width, k0, depth, out);
  }
}

/// One piece of C: rows [row, row + rows), columns [column, column + columns).
void multiply_piece(const Product& p, int row, int rows, int column, int columns) {
  static const bool avx2 = __builtin_cpu_supports("avx2");
  const int row_tiles = (rows + tile_m - 1) / tile_m;
  const int column_tiles = (columns + tile_n - 1) / tile_n;
  std::vector<float> pack_a(static_cast<std::size_t>(row_tiles) * tile_m * block_k);
  std::vector<float> pack_b(static_cast<std::size_t>(column_tiles) * tile_n * block_k);
  std::vector<float> total(static_cast<std::size_t>(row_tiles) * column_tiles * tile_m * tile_n, 0.0f);
  for (int k0 = 0; k0 < p.k; k0 += block_k) {
    const int depth = p.k - k0 < block_k ? p.k - k0 : block_k;
    pack(p.a, p.type_a, p.lda, p.transpose_a, row, rows, tile_m, k0, depth, pack_a.data());
    pack(p.b, p.type_b, p.ldb, !p.transpose_b, column, columns, tile_n, k0, depth, pack_b.data());
    for (int tj = 0; tj < column_tiles; ++tj) {
      for (int ti = 0; ti < row_tiles; ++ti) {
        auto& tile = *reinterpret_cast<float(*)[tile_n][tile_m]>(
            total.data() + static_cast<std::size_t>(tj * row_tiles + ti) * tile_m * tile_n);
        const float* a = pack_a.data() + static_cast<std::size_t>(ti) * tile_m * block_k;
        const float* b = pack_b.data() + static_cast<std::size_t>(tj) * tile_n * block_k;
        if (avx2)
          tile_product_avx2(a, b, depth, tile);
        else
          tile_product_plain(a, b, depth, tile);
      }
    }
  }
  for (int c = 0; c < columns; ++c) {
    for (int r = 0; r < rows; ++r) {
      const std::size_t tile =
          static_cast<std::size_t>((c / tile_n) * row_tiles + r / tile_m) * tile_m * tile_n;
      const float sum =
          total[tile + static_cast<std::size_t>(c % tile_n) * tile_m + static_cast<std::size_t>(r % tile_m)];
      const std::size_t at = static_cast<std::size_t>(row + r) + static_cast<std::size_t>(column + c) * p.ldc;
      // With beta 0, C is not read (it may be NaN).
      const float value = p.beta == 0.0f ? p.alpha * sum : p.alpha * sum + p.beta * load(p.c, p.type_c, at);
      store(p.c, p.type_c, at, value);
    }
  }
}

void multiply(const std::vector<Product>& products) {
  struct Piece {
    const Product* product;
    int row, rows, column, columns;
  };
  std::vector<Piece> pieces;
  for (const Product& p : products)
    for (int column = 0; column < p.n; column += block_n)
      for (int row = 0; row < p.m; row += block_m)
        pieces.push_back({&p, row, p.m - row < block_m ? p.m - row : block_m, column,
                          p.n - column < block_n ? p.n - column : block_n});
  const DeviceAccess access;
  std::atomic<std::size_t> next{0};
  const std::function<void()> work = [&] {
    for (;;) {
      const std::size_t i = next.fetch_add(1);
      if (i >= pieces.size()) return;
      multiply_piece(*pieces[i].product, pieces[i].row, pieces[i].rows, pieces[i].column, pieces[i].columns);
    }
  };
  run_on_pool(work, pieces.empty() ? 0 : static_cast<int>(pieces.size() < 1024 ? pieces.size() - 1 : 1024));
}

/// Multiplies when the stream comes to it: now, or in the launches of the graph that it captures.
template <class Products>
cublasStatus_t queue_multiply(cublasHandle_t handle, Products products) {
  const cudaError_t error = queue(handle->stream, "cublas", [products = std::move(products)] {
    multiply(products());
    return cudaSuccess;
  });
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

bool valid(cublasOperation_t op) {
  return op == CUBLAS_OP_N || op == CUBLAS_OP_T || op == CUBLAS_OP_C;
}

cublasStatus_t check(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n,
                     int k, const void* alpha, cudaDataType_t type_a, int lda, cudaDataType_t type_b, int ldb,
                     const void* beta, cudaDataType_t type_c, int ldc, int batches,
                     cublasComputeType_t compute) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (sticky_error() != cudaSuccess) return CUBLAS_STATUS_EXECUTION_FAILED;
  if (!valid(op_a) || !valid(op_b) || m < 0 || n < 0 || k < 0 || batches < 0 || alpha == nullptr ||
      beta == nullptr)
    return CUBLAS_STATUS_INVALID_VALUE;
  const int rows_a = op_a == CUBLAS_OP_N ? m : k;
  const int rows_b = op_b == CUBLAS_OP_N ? k : n;
  if (lda < (rows_a > 1 ? rows_a : 1) || ldb < (rows_b > 1 ? rows_b : 1) || ldc < (m > 1 ? m : 1))
    return CUBLAS_STATUS_INVALID_VALUE;
  if (compute == CUBLAS_COMPUTE_16F) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (!supported(type_a) || type_a != type_b || !supported(type_c) ||
      (type_c != type_a && type_c != CUDA_R_32F))
    return CUBLAS_STATUS_NOT_SUPPORTED;
  return CUBLAS_STATUS_SUCCESS;
}

const void* offset(const void* base, cudaDataType_t type, long long elements) {
  return static_cast<const char*>(base) + elements * static_cast<long long>(element_bytes(type));
}

}  // namespace
}  // namespace simt

cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *handle = new cublasContext;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  handle->stream = stream;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t* stream) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  *stream = handle->stream;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  handle->math = mode;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  *mode = handle->math;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  return mode == CUBLAS_POINTER_MODE_HOST ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}
cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void*, std::size_t) {
  return handle == nullptr ? CUBLAS_STATUS_NOT_INITIALIZED : CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetVersion(cublasHandle_t, int* version) {
  *version = 130000;
  return CUBLAS_STATUS_SUCCESS;
}

const char* cublasGetStatusName(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS:
      return "CUBLAS_STATUS_SUCCESS";
    case CUBLAS_STATUS_NOT_INITIALIZED:
      return "CUBLAS_STATUS_NOT_INITIALIZED";
    case CUBLAS_STATUS_ALLOC_FAILED:
      return "CUBLAS_STATUS_ALLOC_FAILED";
    case CUBLAS_STATUS_INVALID_VALUE:
      return "CUBLAS_STATUS_INVALID_VALUE";
    case CUBLAS_STATUS_ARCH_MISMATCH:
      return "CUBLAS_STATUS_ARCH_MISMATCH";
    case CUBLAS_STATUS_MAPPING_ERROR:
      return "CUBLAS_STATUS_MAPPING_ERROR";
    case CUBLAS_STATUS_EXECUTION_FAILED:
      return "CUBLAS_STATUS_EXECUTION_FAILED";
    case CUBLAS_STATUS_INTERNAL_ERROR:
      return "CUBLAS_STATUS_INTERNAL_ERROR";
    case CUBLAS_STATUS_NOT_SUPPORTED:
      return "CUBLAS_STATUS_NOT_SUPPORTED";
  }
  return "unknown cuBLAS status";
}
const char* cublasGetStatusString(cublasStatus_t status) {
  return cublasGetStatusName(status);
}

cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t op_a,
                                          cublasOperation_t op_b, int m, int n, int k, const void* alpha,
                                          const void* a, cudaDataType_t type_a, int lda, long long stride_a,
                                          const void* b, cudaDataType_t type_b, int ldb, long long stride_b,
                                          const void* beta, void* c, cudaDataType_t type_c, int ldc,
                                          long long stride_c, int batches, cublasComputeType_t compute,
                                          cublasGemmAlgo_t) {
  const cublasStatus_t status = simt::check(handle, op_a, op_b, m, n, k, alpha, type_a, lda, type_b, ldb,
                                            beta, type_c, ldc, batches, compute);
  if (status != CUBLAS_STATUS_SUCCESS || m == 0 || n == 0) return status;
  std::vector<simt::Product> products;
  for (int i = 0; i < batches; ++i) {
    products.push_back({op_a != CUBLAS_OP_N, op_b != CUBLAS_OP_N, m, n, k, *static_cast<const float*>(alpha),
                        *static_cast<const float*>(beta), simt::offset(a, type_a, i * stride_a), type_a,
                        static_cast<std::size_t>(lda), simt::offset(b, type_b, i * stride_b), type_b,
                        static_cast<std::size_t>(ldb),
                        const_cast<void*>(simt::offset(c, type_c, i * stride_c)), type_c,
                        static_cast<std::size_t>(ldc)});
  }
  return simt::queue_multiply(handle, [products = std::move(products)] { return products; });
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m,
                            int n, int k, const void* alpha, const void* a, cudaDataType_t type_a, int lda,
                            const void* b, cudaDataType_t type_b, int ldb, const void* beta, void* c,
                            cudaDataType_t type_c, int ldc, cublasComputeType_t compute,
                            cublasGemmAlgo_t algorithm) {
  return cublasGemmStridedBatchedEx(handle, op_a, op_b, m, n, k, alpha, a, type_a, lda, 0, b, type_b, ldb, 0,
                                    beta, c, type_c, ldc, 0, 1, compute, algorithm);
}

cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,
                                   int m, int n, int k, const void* alpha, const void* const a[],
                                   cudaDataType_t type_a, int lda, const void* const b[],
                                   cudaDataType_t type_b, int ldb, const void* beta, void* const c[],
                                   cudaDataType_t type_c, int ldc, int batches, cublasComputeType_t compute,
                                   cublasGemmAlgo_t) {
  const cublasStatus_t status = simt::check(handle, op_a, op_b, m, n, k, alpha, type_a, lda, type_b, ldb,
                                            beta, type_c, ldc, batches, compute);
  if (status != CUBLAS_STATUS_SUCCESS || m == 0 || n == 0) return status;
  const float scale = *static_cast<const float*>(alpha), keep = *static_cast<const float*>(beta);
  return simt::queue_multiply(handle, [=] {
    const simt::DeviceAccess access;  // the arrays of pointers are device memory too
    std::vector<simt::Product> products;
    for (int i = 0; i < batches; ++i) {
      products.push_back({op_a != CUBLAS_OP_N, op_b != CUBLAS_OP_N, m, n, k, scale, keep, a[i], type_a,
                          static_cast<std::size_t>(lda), b[i], type_b, static_cast<std::size_t>(ldb), c[i],
                          type_c, static_cast<std::size_t>(ldc)});
    }
    return products;
  });
}

cublasStatus_t cublasSgemm(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m,
                           int n, int k, const float* alpha, const float* a, int lda, const float* b, int ldb,
                           const float* beta, float* c, int ldc) {
  return cublasGemmEx(handle, op_a, op_b, m, n, k, alpha, a, CUDA_R_32F, lda, b, CUDA_R_32F, ldb, beta, c,
                      CUDA_R_32F, ldc, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
}

cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t op_a,
                                         cublasOperation_t op_b, int m, int n, int k, const float* alpha,
                                         const float* a, int lda, long long stride_a, const float* b, int ldb,
                                         long long stride_b, const float* beta, float* c, int ldc,
                                         long long stride_c, int batches) {
  return cublasGemmStridedBatchedEx(handle, op_a, op_b, m, n, k, alpha, a, CUDA_R_32F, lda, stride_a, b,
                                    CUDA_R_32F, ldb, stride_b, beta, c, CUDA_R_32F, ldc, stride_c, batches,
                                    CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
}

cublasStatus_t cublasSgemv(cublasHandle_t handle, cublasOperation_t op, int m, int n, const float* alpha,
                           const float* a, int lda, const float* x, int incx, const float* beta, float* y,
                           int incy) {
  if (incx != 1 || incy != 1) return CUBLAS_STATUS_NOT_SUPPORTED;
  const int rows = op == CUBLAS_OP_N ? m : n;
  const int inner = op == CUBLAS_OP_N ? n : m;
  return cublasSgemm(handle, op, CUBLAS_OP_N, rows, 1, inner, alpha, a, lda, x, inner > 0 ? inner : 1, beta,
                     y, rows > 0 ? rows : 1);
}
