// Weights for tests: random, in any stored type.
#pragma once

#include <cstring>
#include <vector>

#include "tensor/float16.h"
#include "tensor/tensor.h"
#include "testing/data.h"

namespace rung::testing {

constexpr DType kWeightTypes[] = {DType::f32,  DType::f16,  DType::bf16, DType::q4_0,
                                  DType::q4_1, DType::q5_0, DType::q5_1, DType::q8_0,
                                  DType::q4_k, DType::q5_k, DType::q6_k};

// A host tensor [rows, columns] of dtype. Quantized blocks are random bytes with scales around 1/64.
inline Tensor random_weight(DType dtype, int64_t rows, int64_t columns, uint64_t seed) {
  Tensor weight = Tensor::host(dtype, {rows, columns});
  const size_t elements = static_cast<size_t>(weight.elements());
  const std::vector<float> values = random_floats(elements, seed, 0.25f);
  if (dtype == DType::f32) {
    std::memcpy(weight.raw(), values.data(), weight.bytes());
  } else if (!is_quantized(dtype)) {
    auto* bits = static_cast<uint16_t*>(weight.raw());
    for (size_t i = 0; i < elements; ++i) {
      bits[i] = dtype == DType::f16 ? f32_to_f16(values[i]) : f32_to_bf16(values[i]);
    }
  } else {
    const std::vector<int32_t> bytes = random_ints(weight.bytes(), seed, 256);
    auto* out = static_cast<uint8_t*>(weight.raw());
    for (size_t i = 0; i < weight.bytes(); ++i) out[i] = static_cast<uint8_t>(bytes[i]);
    const size_t block_bytes = info(dtype).block_bytes;
    const bool two =
        dtype == DType::q4_1 || dtype == DType::q5_1 || dtype == DType::q4_k || dtype == DType::q5_k;
    for (size_t b = 0; b < weight.bytes() / block_bytes; ++b) {
      uint8_t* scale = out + b * block_bytes + (dtype == DType::q6_k ? block_bytes - 2 : 0);
      const uint16_t d = f32_to_f16(values[2 * b] / 16), m = f32_to_f16(values[2 * b + 1]);
      std::memcpy(scale, &d, 2);
      if (two) std::memcpy(scale + 2, &m, 2);
    }
  }
  return weight;
}

}  // namespace rung::testing
