// Block-quantized weights: how each format packs its block, and decoding a block to float32. All multi-byte
// numbers are little-endian; scales are f16. The layouts are those of ggml (block_q4_0 … block_q6_K).
#pragma once

#include <cstdint>

namespace rung {

constexpr int kBlock = 32;        // elements of a Q4_0, Q4_1, Q5_0, Q5_1 or Q8_0 block
constexpr int kSuperBlock = 256;  // elements of a Q4_K, Q5_K or Q6_K block

// Elements 0–15 stand in the low halves of the 16 bytes of `quants`, 16–31 in the high halves.
struct BlockQ4_0 {  // x = scale * (q - 8)
  uint8_t scale[2];
  uint8_t quants[16];
};
struct BlockQ4_1 {  // x = scale * q + minimum
  uint8_t scale[2], minimum[2];
  uint8_t quants[16];
};
// As above, and bit i of the 32 in `high` is the fifth bit of element i.
struct BlockQ5_0 {  // x = scale * (q - 16)
  uint8_t scale[2];
  uint8_t high[4];
  uint8_t quants[16];
};
struct BlockQ5_1 {  // x = scale * q + minimum
  uint8_t scale[2], minimum[2];
  uint8_t high[4];
  uint8_t quants[16];
};
struct BlockQ8_0 {  // x = scale * q
  uint8_t scale[2];
  int8_t quants[32];
};

// Eight groups of 32 elements, each with a 6-bit scale and a 6-bit minimum packed in `scales` (see
// unpack_scales). Groups 2k and 2k + 1 share 32 bytes of `quants`: the low halves are group 2k, the high
// halves group 2k + 1.
struct BlockQ4_K {  // x = scale * group_scale * q - minimum * group_minimum
  uint8_t scale[2], minimum[2];
  uint8_t scales[12];
  uint8_t quants[128];
};
// As above, and bit g of byte i of `high` is the fifth bit of element i of group g.
struct BlockQ5_K {
  uint8_t scale[2], minimum[2];
  uint8_t scales[12];
  uint8_t high[32];
  uint8_t quants[128];
};
// Sixteen groups of 16 elements with an 8-bit scale each. 6-bit quants: 4 low bits in `low`, 2 high bits in
// `high`.
struct BlockQ6_K {  // x = scale * scales[group] * (q - 32)
  uint8_t low[128];
  uint8_t high[64];
  int8_t scales[16];
  uint8_t scale[2];
};

// The eight 6-bit scales and minimums of a Q4_K or Q5_K block.
void unpack_scales(const uint8_t packed[12], uint8_t scales[8], uint8_t minimums[8]);

// Decodes one block to kBlock or kSuperBlock floats. The order of operations is that of the `gguf` package's
// dequantizers, so results agree bit for bit.
void decode_block(const BlockQ4_0& block, float* x);
void decode_block(const BlockQ4_1& block, float* x);
void decode_block(const BlockQ5_0& block, float* x);
void decode_block(const BlockQ5_1& block, float* x);
void decode_block(const BlockQ8_0& block, float* x);
void decode_block(const BlockQ4_K& block, float* x);
void decode_block(const BlockQ5_K& block, float* x);
void decode_block(const BlockQ6_K& block, float* x);

}  // namespace rung
