// Decoding one block of each format.
#include "tensor/block_formats.h"

#include "rung/error.h"
#include "tensor/float16.h"

namespace rung {

namespace {

float f16_at(const uint8_t bytes[2]) {
  return f16_to_f32(static_cast<uint16_t>(bytes[0] | bytes[1] << 8));
}

uint32_t u32_at(const uint8_t bytes[4]) {
  return bytes[0] | uint32_t{bytes[1]} << 8 | uint32_t{bytes[2]} << 16 | uint32_t{bytes[3]} << 24;
}

// Element i of 32 elements of 4 bits: the low half of byte i, or the high half of byte i - 16.
int nibble(const uint8_t quants[16], int i) {
  return i < 16 ? quants[i] & 15 : quants[i - 16] >> 4;
}

}  // namespace

void unpack_scales(const uint8_t packed[12], uint8_t scales[8], uint8_t minimums[8]) {
  for (int i = 0; i < 4; ++i) {
    // Groups 0–3 use the low 6 bits of bytes 0–3 and 4–7. Groups 4–7 have their low 4 bits in bytes 8–11 and
    // their high 2 bits on top of bytes 0–7.
    scales[i] = packed[i] & 63;
    minimums[i] = packed[4 + i] & 63;
    scales[4 + i] = static_cast<uint8_t>((packed[8 + i] & 15) | (packed[i] >> 6) << 4);
    minimums[4 + i] = static_cast<uint8_t>(packed[8 + i] >> 4 | (packed[4 + i] >> 6) << 4);
  }
}

void decode_block(const BlockQ4_0& block, float* x) {
  // BEGIN SOLUTION 02.2
  const float scale = f16_at(block.scale);
  for (int i = 0; i < kBlock; ++i) x[i] = scale * static_cast<float>(nibble(block.quants, i) - 8);
  // STUB: (void)block;
  // STUB: (void)x;
  // STUB: not_done("02.2");
  // END SOLUTION
}

void decode_block(const BlockQ4_1& block, float* x) {
  const float scale = f16_at(block.scale), minimum = f16_at(block.minimum);
  for (int i = 0; i < kBlock; ++i) x[i] = scale * static_cast<float>(nibble(block.quants, i)) + minimum;
}

void decode_block(const BlockQ5_0& block, float* x) {
  const float scale = f16_at(block.scale);
  const uint32_t high = u32_at(block.high);
  for (int i = 0; i < kBlock; ++i) {
    const int q = nibble(block.quants, i) | static_cast<int>(high >> i & 1) << 4;
    x[i] = scale * static_cast<float>(q - 16);
  }
}

void decode_block(const BlockQ5_1& block, float* x) {
  const float scale = f16_at(block.scale), minimum = f16_at(block.minimum);
  const uint32_t high = u32_at(block.high);
  for (int i = 0; i < kBlock; ++i) {
    const int q = nibble(block.quants, i) | static_cast<int>(high >> i & 1) << 4;
    x[i] = scale * static_cast<float>(q) + minimum;
  }
}

void decode_block(const BlockQ8_0& block, float* x) {
  const float scale = f16_at(block.scale);
  for (int i = 0; i < kBlock; ++i) x[i] = static_cast<float>(block.quants[i]) * scale;
}

void decode_block(const BlockQ4_K& block, float* x) {
  const float scale = f16_at(block.scale), minimum = f16_at(block.minimum);
  uint8_t scales[8], minimums[8];
  unpack_scales(block.scales, scales, minimums);
  for (int group = 0; group < 8; ++group) {
    const float group_scale = scale * scales[group], group_minimum = minimum * minimums[group];
    const uint8_t* quants = block.quants + group / 2 * 32;
    for (int i = 0; i < 32; ++i) {
      const int q = group % 2 == 0 ? quants[i] & 15 : quants[i] >> 4;
      x[group * 32 + i] = group_scale * static_cast<float>(q) - group_minimum;
    }
  }
}

void decode_block(const BlockQ5_K& block, float* x) {
  const float scale = f16_at(block.scale), minimum = f16_at(block.minimum);
  uint8_t scales[8], minimums[8];
  unpack_scales(block.scales, scales, minimums);
  for (int group = 0; group < 8; ++group) {
    const float group_scale = scale * scales[group], group_minimum = minimum * minimums[group];
    const uint8_t* quants = block.quants + group / 2 * 32;
    for (int i = 0; i < 32; ++i) {
      const int low = group % 2 == 0 ? quants[i] & 15 : quants[i] >> 4;
      const int q = low | (block.high[i] >> group & 1) << 4;
      x[group * 32 + i] = group_scale * static_cast<float>(q) - group_minimum;
    }
  }
}

void decode_block(const BlockQ6_K& block, float* x) {
  const float scale = f16_at(block.scale);
  for (int i = 0; i < kSuperBlock; ++i) {
    // Each half of 128 elements has 64 bytes of low bits and 32 of high bits. Four runs of 32 elements share
    // them: the low halves of both 32-byte parts, then their high halves; bits 0–1, 2–3, 4–5 and 6–7 of the
    // high bytes.
    const int half = i / 128, run = i % 128 / 32, column = i % 32;
    const uint8_t low_byte = block.low[half * 64 + run % 2 * 32 + column];
    const int low = run < 2 ? low_byte & 15 : low_byte >> 4;
    const int high = block.high[half * 32 + column] >> (2 * run) & 3;
    const float group_scale = scale * block.scales[i / 16];
    x[i] = group_scale * static_cast<float>((low | high << 4) - 32);
  }
}

}  // namespace rung
