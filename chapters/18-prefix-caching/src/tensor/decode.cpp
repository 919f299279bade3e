// Decoding rows: picks the block format and walks over the blocks.
#include "tensor/decode.h"

#include <cstring>

#include "rung/error.h"
#include "tensor/block_formats.h"
#include "tensor/float16.h"

namespace rung {

namespace {

template <class Block, int kElements>
void decode_blocks(const void* src, float* dst, int64_t elements) {
  const Block* blocks = static_cast<const Block*>(src);  // made of bytes, so any address is aligned
  for (int64_t i = 0; i < elements / kElements; ++i) decode_block(blocks[i], dst + i * kElements);
}

// Element i of src, which need not be aligned.
template <class T>
T element(const void* src, int64_t i) {
  T value;
  std::memcpy(&value, static_cast<const uint8_t*>(src) + i * sizeof(T), sizeof(T));
  return value;
}

}  // namespace

void decode_row(DType dtype, const void* src, float* dst, int64_t elements) {
  const int64_t block = static_cast<int64_t>(info(dtype).block_elements);
  if (elements < 0 || elements % block != 0) {
    fail("a row of ", elements, " elements cannot be ", name(dtype), ", expected a multiple of ", block);
  }
  switch (dtype) {
    case DType::f32:
      if (elements > 0) std::memcpy(dst, src, static_cast<size_t>(elements) * sizeof(float));
      return;
    case DType::f16:
      for (int64_t i = 0; i < elements; ++i) dst[i] = f16_to_f32(element<uint16_t>(src, i));
      return;
    case DType::bf16:
      for (int64_t i = 0; i < elements; ++i) dst[i] = bf16_to_f32(element<uint16_t>(src, i));
      return;
    case DType::i32:
      for (int64_t i = 0; i < elements; ++i) dst[i] = static_cast<float>(element<int32_t>(src, i));
      return;
    case DType::q4_0:
      return decode_blocks<BlockQ4_0, kBlock>(src, dst, elements);
    case DType::q4_1:
      return decode_blocks<BlockQ4_1, kBlock>(src, dst, elements);
    case DType::q5_0:
      return decode_blocks<BlockQ5_0, kBlock>(src, dst, elements);
    case DType::q5_1:
      return decode_blocks<BlockQ5_1, kBlock>(src, dst, elements);
    case DType::q8_0:
      return decode_blocks<BlockQ8_0, kBlock>(src, dst, elements);
    case DType::q4_k:
      return decode_blocks<BlockQ4_K, kSuperBlock>(src, dst, elements);
    case DType::q5_k:
      return decode_blocks<BlockQ5_K, kSuperBlock>(src, dst, elements);
    case DType::q6_k:
      return decode_blocks<BlockQ6_K, kSuperBlock>(src, dst, elements);
  }
  fail("element type ", static_cast<int>(dtype), " does not exist");
}

Tensor to_f32(const Tensor& tensor) {
  if (tensor.place() != Place::host) fail("a tensor in device memory cannot be decoded on the host");
  if (tensor.dtype() == DType::f32) return tensor;
  Tensor decoded = Tensor::host(DType::f32, tensor.shape());
  decode_row(tensor.dtype(), tensor.raw(), decoded.data<float>(), tensor.elements());
  return decoded;
}

}  // namespace rung
