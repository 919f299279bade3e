// The types in which elements are stored: plain numbers, and blocks of quantized weights that share scales.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rung {

enum class DType : uint8_t { f32, f16, bf16, i32, q4_0, q4_1, q5_0, q5_1, q8_0, q4_k, q5_k, q6_k };

struct DTypeInfo {
  const char* name;       // as GGUF tools print it: "F32", "Q4_K"
  size_t block_elements;  // elements that are stored together: 1 for plain numbers, 32 or 256 for quantized
                          // blocks
  size_t block_bytes;
};

const DTypeInfo& info(DType dtype);

inline const char* name(DType dtype) {
  return info(dtype).name;
}
inline bool is_quantized(DType dtype) {
  return info(dtype).block_elements > 1;
}

// Bytes of a row of elements; elements must be a multiple of the block.
inline size_t row_bytes(DType dtype, size_t elements) {
  return elements / info(dtype).block_elements * info(dtype).block_bytes;
}

// Maps float, int32_t and the 16-bit storage types to their DType, so that Tensor::data<T>() can check
// itself.
struct f16_t {
  uint16_t bits;
};
struct bf16_t {
  uint16_t bits;
};
template <class T>
struct dtype_of;
template <>
struct dtype_of<float> {
  static constexpr DType value = DType::f32;
};
template <>
struct dtype_of<int32_t> {
  static constexpr DType value = DType::i32;
};
template <>
struct dtype_of<f16_t> {
  static constexpr DType value = DType::f16;
};
template <>
struct dtype_of<bf16_t> {
  static constexpr DType value = DType::bf16;
};

}  // namespace rung
