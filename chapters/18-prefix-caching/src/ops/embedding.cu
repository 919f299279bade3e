// The embedding on CUDA: one thread an element, then one thread for four.
#include "ops/check.h"
#include "ops/embedding.h"
#include "ops/embedding_kernels.h"
#include "rung/error.h"
#include "rung/not_done.h"
#include "tensor/block_decode.cuh"

namespace rung {

namespace {

constexpr int kThreads = 256;

unsigned blocks_for(int64_t threads) {
  return static_cast<unsigned>((threads + kThreads - 1) / kThreads);
}

// Grid: enough blocks of kThreads threads for tokens * hidden elements, one thread an element; neighbouring
// threads have neighbouring columns. y [tokens, hidden], table [vocabulary, hidden], ids [tokens], each id in
// [0, vocabulary).
template <class Format>
__global__ void one_element_kernel(float* y, const unsigned char* table, const int32_t* ids, int64_t tokens,
                                   int64_t hidden) {
  // BEGIN SOLUTION 05.3
  const int64_t element = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (element >= tokens * hidden) return;  // the last block may have threads to spare
  const int64_t token = element / hidden, column = element % hidden;
  const int64_t blocks_per_row = hidden / Format::kElements;
  const int64_t block = ids[token] * blocks_per_row + column / Format::kElements;
  y[element] = Format::element(table + block * Format::kBytes, static_cast<int>(column % Format::kElements));
  // STUB: RUNG_NOT_DONE("05.3");
  // END SOLUTION
}

// Four elements from column `column` of the row at `row`, a multiple of 4: one load of 16 or 8 bytes for
// plain numbers; blocks are decoded element by element (they are aligned to two bytes only).
template <class Format>
__device__ float4 load_four(const unsigned char* row, int64_t column) {
  const unsigned char* block = row + column / Format::kElements * Format::kBytes;
  const int i = static_cast<int>(column % Format::kElements);
  return make_float4(Format::element(block, i), Format::element(block, i + 1), Format::element(block, i + 2),
                     Format::element(block, i + 3));
}

template <>
__device__ float4 load_four<Stored<DType::f32>>(const unsigned char* row, int64_t column) {
  return *reinterpret_cast<const float4*>(row + column * 4);
}

template <>
__device__ float4 load_four<Stored<DType::f16>>(const unsigned char* row, int64_t column) {
  const ushort4 bits = *reinterpret_cast<const ushort4*>(row + column * 2);
  return make_float4(__half2float(__ushort_as_half(bits.x)), __half2float(__ushort_as_half(bits.y)),
                     __half2float(__ushort_as_half(bits.z)), __half2float(__ushort_as_half(bits.w)));
}

template <>
__device__ float4 load_four<Stored<DType::bf16>>(const unsigned char* row, int64_t column) {
  const ushort4 bits = *reinterpret_cast<const ushort4*>(row + column * 2);
  return make_float4(
      __bfloat162float(__ushort_as_bfloat16(bits.x)), __bfloat162float(__ushort_as_bfloat16(bits.y)),
      __bfloat162float(__ushort_as_bfloat16(bits.z)), __bfloat162float(__ushort_as_bfloat16(bits.w)));
}

// Grid: enough blocks of kThreads threads for tokens * hidden / 4 elements, one thread for four. Shapes as
// above; hidden a multiple of 4, y aligned to 16 bytes, plain tables to four of their elements.
template <class Format>
__global__ void four_elements_kernel(float* y, const unsigned char* table, const int32_t* ids, int64_t tokens,
                                     int64_t hidden) {
  // BEGIN SOLUTION 05.4
  const int64_t four = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const int64_t fours_per_row = hidden / 4;
  if (four >= tokens * fours_per_row) return;
  const int64_t token = four / fours_per_row, column = four % fours_per_row * 4;
  const unsigned char* row = table + ids[token] * (hidden / Format::kElements * Format::kBytes);
  reinterpret_cast<float4*>(y)[four] = load_four<Format>(row, column);
  // STUB: RUNG_NOT_DONE("05.4");
  // END SOLUTION
}

void check(const Tensor& y, const Tensor& table, const Tensor& ids) {
  const int64_t tokens = ids.elements(), vocabulary = table.shape().rows(), hidden = table.shape().columns();
  check_operand("embedding: ids", ids, DType::i32, {tokens}, Place::device);
  check_operand("embedding: table", table, {vocabulary, hidden}, Place::device);
  check_operand("embedding: y", y, DType::f32, {tokens, hidden}, Place::device);
}

void refuse(DType dtype) {
  fail("embedding: a table cannot be stored as ", name(dtype));
}

bool aligned(const Tensor& tensor, uintptr_t bytes) {
  return reinterpret_cast<uintptr_t>(tensor.raw()) % bytes == 0;
}

}  // namespace

void embedding_one_element(Cuda& device, Tensor& y, const Tensor& table, const Tensor& ids) {
  check(y, table, ids);
  if (y.elements() == 0) return;
  const bool known = with_stored(table.dtype(), [&](auto format) {
    one_element_kernel<decltype(format)><<<blocks_for(y.elements()), kThreads, 0, device.stream()>>>(
        y.data<float>(), static_cast<const unsigned char*>(table.raw()), ids.data<int32_t>(),
        y.shape().rows(), y.shape().columns());
  });
  if (!known) refuse(table.dtype());
  RUNG_CUDA_CHECK_LAUNCH("embedding_one_element");
}

bool embedding_can_vectorise(const Tensor& y, const Tensor& table) {
  return y.shape().columns() % 4 == 0 && aligned(y, 16) &&
         (is_quantized(table.dtype()) || aligned(table, 4 * info(table.dtype()).block_bytes));
}

void embedding_four_elements(Cuda& device, Tensor& y, const Tensor& table, const Tensor& ids) {
  check(y, table, ids);
  if (y.elements() == 0) return;
  if (!embedding_can_vectorise(y, table))
    fail("embedding: rows of ", y.shape().columns(),
         " elements, or where they lie, cannot be read four at a time");
  const bool known = with_stored(table.dtype(), [&](auto format) {
    four_elements_kernel<decltype(format)><<<blocks_for(y.elements() / 4), kThreads, 0, device.stream()>>>(
        y.data<float>(), static_cast<const unsigned char*>(table.raw()), ids.data<int32_t>(),
        y.shape().rows(), y.shape().columns());
  });
  if (!known) refuse(table.dtype());
  RUNG_CUDA_CHECK_LAUNCH("embedding_four_elements");
}

void embedding(Cuda& device, Tensor& y, const Tensor& table, const Tensor& ids) {
  if (embedding_can_vectorise(y, table)) {
    embedding_four_elements(device, y, table, ids);
  } else {
    embedding_one_element(device, y, table, ids);
  }
}

}  // namespace rung
