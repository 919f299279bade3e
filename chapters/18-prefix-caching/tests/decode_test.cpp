// Decoding every stored type to float32: block formats bit for bit as the `gguf` package does it.
#include "tensor/decode.h"

#include <cstring>

#include "tensor/block_formats.h"
#include "tensor/float16.h"
#include "testing/catch.h"
#include "testing/compare.h"
#include "testing/fixture.h"
#include "tests/error_text.h"

namespace rung {

using testing::complaint;
using testing::error_of;

namespace {

constexpr DType kBlockTypes[] = {DType::q4_0, DType::q4_1, DType::q5_0, DType::q5_1,
                                 DType::q8_0, DType::q4_k, DType::q5_k, DType::q6_k};

}  // namespace

TEST_CASE("block formats decode bit for bit as the gguf package's dequantizers do") {
  for (DType dtype : kBlockTypes) {
    INFO(name(dtype));
    const std::string stored =
        testing::read_file(testing::fixture_path(std::string("quant/") + name(dtype) + ".bin"));
    const std::vector<float> expected =
        testing::read_floats(testing::fixture_path(std::string("quant/") + name(dtype) + ".f32"));
    REQUIRE(!expected.empty());
    REQUIRE(row_bytes(dtype, expected.size()) == stored.size());
    std::vector<float> got(expected.size(), -1);
    decode_row(dtype, stored.data(), got.data(), static_cast<int64_t>(got.size()));
    CHECK(testing::compare_bits(got, expected) == "");

    // From an odd address, and one block only.
    const std::string shifted = "x" + stored;
    const size_t block = info(dtype).block_elements;
    std::vector<float> first(block + 1, -1);
    decode_row(dtype, shifted.data() + 1, first.data(), static_cast<int64_t>(block));
    CHECK(testing::compare_bits({first.data(), block}, {expected.data(), block}) == "");
    CHECK(first[block] == -1);
  }
}

TEST_CASE("a Q4_0 block decodes as worked out by hand") {
  BlockQ4_0 block{};
  block.scale[1] = 0x38;    // 0x3800 is 0.5 as f16
  block.quants[0] = 0xf0;   // element 0 is 0 - 8, element 16 is 15 - 8
  block.quants[15] = 0x98;  // element 15 is 8 - 8, element 31 is 9 - 8
  float x[kBlock];
  decode_block(block, x);
  CHECK(x[0] == -4.0f);
  CHECK(x[16] == 3.5f);
  CHECK(x[15] == 0.0f);
  CHECK(x[31] == 0.5f);
  CHECK(x[1] == -4.0f);
}

TEST_CASE("the 6-bit scales of a K block unpack as worked out by hand") {
  // Group 1: scale 63, minimum 1. Group 5: scale 0b100101, minimum 0b010011; its high bits sit on top of
  // group 1's.
  uint8_t packed[12] = {}, scales[8], minimums[8];
  packed[1] = 63 | 0b10 << 6;
  packed[5] = 1 | 0b01 << 6;
  packed[9] = 0b0101 | 0b0011 << 4;
  unpack_scales(packed, scales, minimums);
  const uint8_t expected_scales[8] = {0, 63, 0, 0, 0, 0b100101, 0, 0};
  const uint8_t expected_minimums[8] = {0, 1, 0, 0, 0, 0b010011, 0, 0};
  for (int i = 0; i < 8; ++i) {
    INFO("group " << i);
    CHECK(scales[i] == expected_scales[i]);
    CHECK(minimums[i] == expected_minimums[i]);
  }
}

TEST_CASE("plain types decode from any address") {
  const float values[] = {1.5f, -0.0f, 65504, 0x1p-24f, -3};
  std::string f16 = "x", bf16 = "x", f32 = "x", i32 = "x";
  for (float value : values) {
    const uint16_t half = f32_to_f16(value), brain = f32_to_bf16(value);
    const int32_t whole = static_cast<int32_t>(value);
    f16.append(reinterpret_cast<const char*>(&half), 2);
    bf16.append(reinterpret_cast<const char*>(&brain), 2);
    f32.append(reinterpret_cast<const char*>(&value), 4);
    i32.append(reinterpret_cast<const char*>(&whole), 4);
  }
  float got[5];
  decode_row(DType::f32, f32.data() + 1, got, 5);
  CHECK(testing::compare_bits({got, 5}, values) == "");
  decode_row(DType::f16, f16.data() + 1, got, 5);
  CHECK(testing::compare_bits({got, 5}, values) == "");
  decode_row(DType::bf16, bf16.data() + 1, got, 5);
  const float rounded[] = {1.5f, -0.0f, 65536, 0x1p-24f, -3};
  CHECK(testing::compare_bits({got, 5}, rounded) == "");
  decode_row(DType::i32, i32.data() + 1, got, 5);
  const float whole[] = {1, 0, 65504, 0, -3};
  CHECK(testing::compare_bits({got, 5}, whole) == "");
}

TEST_CASE("a row that is no whole number of blocks is refused") {
  float x[256];
  const uint8_t block[256] = {};
  CHECK(complaint(error_of([&] { decode_row(DType::q4_1, block, x, 33); }),
                  {"33", "Q4_1", "multiple of 32"}) == "");
  CHECK(complaint(error_of([&] { decode_row(DType::q6_k, block, x, 32); }),
                  {"32", "Q6_K", "multiple of 256"}) == "");
}

TEST_CASE("to_f32 gives a float32 tensor itself and decodes others") {
  Tensor plain = Tensor::host(DType::f32, {2, 3});
  CHECK(to_f32(plain).raw() == plain.raw());
  Tensor half = Tensor::host(DType::f16, {2, 3});
  for (int i = 0; i < 6; ++i) half.data<f16_t>()[i].bits = f32_to_f16(static_cast<float>(i) / 4);
  const Tensor decoded = to_f32(half);
  CHECK(decoded.shape() == half.shape());
  const float expected[] = {0, 0.25f, 0.5f, 0.75f, 1, 1.25f};
  CHECK(testing::compare_bits({decoded.data<float>(), 6}, expected) == "");
}

}  // namespace rung
