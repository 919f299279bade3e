// Weights decoded on the device, one element at a time, bit for bit as decode_row() does on the host.
// __fmul_rn and
// __fadd_rn keep the compiler from fusing a product and a sum into one rounding.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "tensor/dtype.h"

namespace rung {

// A storage format: elements and bytes of a block, and element(block, i), the value of element i of the
// block. Blocks are aligned to two bytes.
template <DType dtype>
struct Stored;

__device__ inline float half_at(const unsigned char* bytes) {
  return __half2float(*reinterpret_cast<const __half*>(bytes));
}

template <>
struct Stored<DType::f32> {
  static constexpr int kElements = 1, kBytes = 4;
  __device__ static float element(const unsigned char* block, int) {
    return *reinterpret_cast<const float*>(block);
  }
};

template <>
struct Stored<DType::f16> {
  static constexpr int kElements = 1, kBytes = 2;
  __device__ static float element(const unsigned char* block, int) { return half_at(block); }
};

template <>
struct Stored<DType::bf16> {
  static constexpr int kElements = 1, kBytes = 2;
  __device__ static float element(const unsigned char* block, int) {
    return __bfloat162float(*reinterpret_cast<const __nv_bfloat16*>(block));
  }
};

// Bytes of a block of 32: scale (half); 32 signed bytes.
template <>
struct Stored<DType::q8_0> {
  static constexpr int kElements = 32, kBytes = 34;
  __device__ static float element(const unsigned char* block, int i) {
    return __fmul_rn(half_at(block), static_cast<float>(static_cast<signed char>(block[2 + i])));
  }
};

// In the four-bit formats byte j of 16 holds element j in its low half and element j + 16 in its high half.
__device__ inline int nibble(const unsigned char* bytes, int i) {
  return i < 16 ? bytes[i] & 15 : bytes[i - 16] >> 4;
}

// Scale (half); 16 bytes of nibbles, 8 stands for 0.
template <>
struct Stored<DType::q4_0> {
  static constexpr int kElements = 32, kBytes = 18;
  __device__ static float element(const unsigned char* block, int i) {
    return __fmul_rn(half_at(block), static_cast<float>(nibble(block + 2, i) - 8));
  }
};

// Scale and minimum (halves); 16 bytes of nibbles.
template <>
struct Stored<DType::q4_1> {
  static constexpr int kElements = 32, kBytes = 20;
  __device__ static float element(const unsigned char* block, int i) {
    return __fadd_rn(__fmul_rn(half_at(block), static_cast<float>(nibble(block + 4, i))), half_at(block + 2));
  }
};

// Bit i of the 32 bits at `bytes`.
__device__ inline int bit(const unsigned char* bytes, int i) {
  return bytes[i / 8] >> (i % 8) & 1;
}

// Scale (half); 32 fifth bits; 16 bytes of nibbles; 16 stands for 0.
template <>
struct Stored<DType::q5_0> {
  static constexpr int kElements = 32, kBytes = 22;
  __device__ static float element(const unsigned char* block, int i) {
    const int q = nibble(block + 6, i) | bit(block + 2, i) << 4;
    return __fmul_rn(half_at(block), static_cast<float>(q - 16));
  }
};

// Scale and minimum (halves); 32 fifth bits; 16 bytes of nibbles.
template <>
struct Stored<DType::q5_1> {
  static constexpr int kElements = 32, kBytes = 24;
  __device__ static float element(const unsigned char* block, int i) {
    const int q = nibble(block + 8, i) | bit(block + 4, i) << 4;
    return __fadd_rn(__fmul_rn(half_at(block), static_cast<float>(q)), half_at(block + 2));
  }
};

// The K formats divide 256 elements into groups, each with a scale of its own. Q4_K and Q5_K have 8 groups of
// 32 with a six-bit scale and a six-bit minimum each, packed into 12 bytes: four whole pairs, and four whose
// upper two bits stand on top of the first four.
struct ScaleAndMinimum {
  int scale, minimum;
};
__device__ inline ScaleAndMinimum packed_scale(const unsigned char* bytes, int group) {
  if (group < 4) return {bytes[group] & 63, bytes[group + 4] & 63};
  return {(bytes[group + 4] & 15) | (bytes[group - 4] >> 6) << 4,
          (bytes[group + 4] >> 4) | (bytes[group] >> 6) << 4};
}

__device__ inline float scaled(const unsigned char* block, int group, int q) {
  const ScaleAndMinimum packed = packed_scale(block + 4, group);
  const float scale = __fmul_rn(half_at(block), static_cast<float>(packed.scale));
  const float minimum = __fmul_rn(half_at(block + 2), static_cast<float>(packed.minimum));
  return __fadd_rn(__fmul_rn(scale, static_cast<float>(q)), -minimum);
}

// Byte j of each 32 holds an element of an even group in its low half and one of the next group in its high
// half.
__device__ inline int nibble_of_group(const unsigned char* bytes, int i) {
  const int byte = bytes[i / 64 * 32 + i % 32];
  return i % 64 < 32 ? byte & 15 : byte >> 4;
}

// Scale and minimum (halves); 12 bytes of packed scales; 128 bytes of nibbles.
template <>
struct Stored<DType::q4_k> {
  static constexpr int kElements = 256, kBytes = 144;
  __device__ static float element(const unsigned char* block, int i) {
    return scaled(block, i / 32, nibble_of_group(block + 16, i));
  }
};

// As Q4_K, with 32 bytes of fifth bits before the nibbles: bit g of byte j belongs to element j of group g.
template <>
struct Stored<DType::q5_k> {
  static constexpr int kElements = 256, kBytes = 176;
  __device__ static float element(const unsigned char* block, int i) {
    const int group = i / 32;
    const int fifth = block[16 + i % 32] >> group & 1;
    return scaled(block, group, nibble_of_group(block + 48, i) | fifth << 4);
  }
};

// 128 bytes of low nibbles, 64 bytes of upper bit pairs, 16 signed scales for groups of 16, scale (half); 32
// stands for 0. Each half of the block (128 elements) is four runs of 32: runs 0 and 2 share their nibble
// bytes, 1 and 3 too, and all four share the bytes of upper bits.
template <>
struct Stored<DType::q6_k> {
  static constexpr int kElements = 256, kBytes = 210;
  __device__ static float element(const unsigned char* block, int i) {
    const int half = i / 128, run = i % 128 / 32, j = i % 32;
    const int low = block[half * 64 + run % 2 * 32 + j] >> (run / 2 * 4) & 15;
    const int high = block[128 + half * 32 + j] >> (run * 2) & 3;
    const float group_scale = static_cast<float>(static_cast<signed char>(block[192 + i / 16]));
    const float scale = __fmul_rn(half_at(block + 208), group_scale);
    return __fmul_rn(scale, static_cast<float>((low | high << 4) - 32));
  }
};

// Calls f(Stored<dtype>()) for a type that tables and weights may have; returns false for any other.
template <class F>
bool with_stored(DType dtype, F f) {
  switch (dtype) {
    case DType::f32:
      f(Stored<DType::f32>());
      return true;
    case DType::f16:
      f(Stored<DType::f16>());
      return true;
    case DType::bf16:
      f(Stored<DType::bf16>());
      return true;
    case DType::q4_0:
      f(Stored<DType::q4_0>());
      return true;
    case DType::q4_1:
      f(Stored<DType::q4_1>());
      return true;
    case DType::q5_0:
      f(Stored<DType::q5_0>());
      return true;
    case DType::q5_1:
      f(Stored<DType::q5_1>());
      return true;
    case DType::q8_0:
      f(Stored<DType::q8_0>());
      return true;
    case DType::q4_k:
      f(Stored<DType::q4_k>());
      return true;
    case DType::q5_k:
      f(Stored<DType::q5_k>());
      return true;
    case DType::q6_k:
      f(Stored<DType::q6_k>());
      return true;
    case DType::i32:
      return false;
  }
  return false;
}

}  // namespace rung
