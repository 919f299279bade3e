// Matrix products of every stored type on the CPU: transformers' values, exact sums, and the same bits for
// any number of rows and threads.
#include "ops/matmul.h"

#include <cmath>

#include <hwy/targets.h>

#include "model_file/model_file.h"
#include "ops/dot.h"
#include "rung/error.h"
#include "tensor/decode.h"
#include "testing/catch.h"
#include "testing/fixture.h"
#include "tests/devices.h"
#include "tests/stored_weights.h"

using namespace rung;
using namespace rung::testing;

namespace {

// Empty if y is x * weight^T + bias within what float32 sums allow: each addition rounds to 2^-24 of what has
// been summed, which is at most the sum of the products' magnitudes; in sixteen partial sums an element
// passes in / 16 + 4 of them, and one for the bias.
std::string check_product(const Tensor& y, const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const Tensor decoded = to_f32(weight);
  const int64_t rows = x.shape()[0], in = x.shape()[1], out = weight.shape()[0];
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t o = 0; o < out; ++o) {
      double sum = bias.empty() ? 0 : bias.data<float>()[o], magnitude = std::abs(sum);
      for (int64_t i = 0; i < in; ++i) {
        const double product =
            static_cast<double>(x.data<float>()[r * in + i]) * decoded.data<float>()[o * in + i];
        sum += product;
        magnitude += std::abs(product);
      }
      const double got = y.data<float>()[r * out + o];
      const double allowed = magnitude * std::ldexp(static_cast<double>(in) / 16 + 6, -24);
      if (!(std::abs(got - sum) <= allowed)) {
        return "row " + std::to_string(r) + ", output " + std::to_string(o) + ": got " + std::to_string(got) +
               ", expected " + std::to_string(sum) + " within " + std::to_string(allowed);
      }
    }
  }
  return "";
}

Tensor product(Cpu& cpu, const Tensor& x, const Tensor& weight, const Tensor& bias = Tensor()) {
  GuardedOutput<Cpu> y(cpu, {x.shape()[0], weight.shape()[0]});
  matmul(cpu, y.tensor, x, weight, bias);
  return y.values();
}

}  // namespace

TEMPLATE_TEST_CASE("matmul of two rows with two weights is what a pencil gives", "", Cpu, Cuda) {
  TestType& device = the_device<TestType>();
  const Tensor x = tensor_of({1, 2, 3, 0, -1, 4}, {2, 3}), weight = tensor_of({1, 0, -1, 2, 5, 1}, {2, 3});
  GuardedOutput<TestType> y(device, {2, 2});
  matmul(device, y.tensor, upload(device, x), upload(device, weight),
         upload(device, tensor_of({10, -3}, {2})));
  CHECK(compare_bits(floats(y.values()), std::vector<float>{8, 12, 6, -4}) == "");
}

TEMPLATE_TEST_CASE("matmul gives transformers' queries, keys and values of layer 0", "", Cpu, Cuda) {
  TestType& device = the_device<TestType>();
  struct Case {
    const char *fixture, *file, *array, *weight, *bias;
  };
  // llama's q and k are permuted in GGUF, v is not.
  const Case cases[] = {{"qwen2-bias", "qwen2-bias", "q", "blk.0.attn_q.weight", "blk.0.attn_q.bias"},
                        {"qwen2-bias", "qwen2-bias.gguf", "k", "blk.0.attn_k.weight", "blk.0.attn_k.bias"},
                        {"qwen2-bias", "qwen2-bias.gguf", "v", "blk.0.attn_v.weight", "blk.0.attn_v.bias"},
                        {"llama-rope3", "llama-rope3.gguf", "v", "blk.0.attn_v.weight", ""},
                        {"llama-bf16", "llama-bf16.gguf", "v", "blk.0.attn_v.weight", ""},
                        {"llama-q8_0", "llama-q8_0.gguf", "v", "blk.0.attn_v.weight", ""},
                        {"llama-mixed", "llama-mixed.gguf", "v", "blk.0.attn_v.weight", ""}};
  for (const Case& c : cases) {
    INFO(c.file << " " << c.array);
    const Reference reference(c.fixture);
    const Tensor expected = reference.array(std::string("len7/") + c.array);
    const Tensor x = reference.array("len7/attn_norm");
    const int64_t rows = 7, in = x.shape()[1], out = expected.elements() / rows;
    const auto model = open_model(fixture_path(c.file));
    Tensor weight = model->tensor(c.weight, {out, in});
    if (std::is_same_v<TestType, Cuda> && is_quantized(weight.dtype())) weight = to_f32(weight);
    const Tensor bias = *c.bias == 0 ? Tensor() : to_f32(model->tensor(c.bias, {out}));
    GuardedOutput<TestType> y(device, {rows, out});
    matmul(device, y.tensor, upload(device, x), upload(device, weight),
           bias.empty() ? bias : upload(device, bias));
    // 64 products and their sum in float32, against the same in another order. On Cuda bf16 weights round x
    // to 8 bits.
    const double allowed =
        std::is_same_v<TestType, Cuda> && weight.dtype() == DType::bf16 ? 0x1p-8 : 64 * 0x1p-24;
    CHECK(relative_error(floats(y.values()), floats(expected)) <= allowed);
  }
}

TEST_CASE("matmul on the CPU multiplies weights of every stored type") {
  Cpu cpu(2);
  for (const DType dtype : kWeightTypes) {
    const int64_t block = static_cast<int64_t>(info(dtype).block_elements);
    std::vector<int64_t> widths = {block, 3 * block};
    if (block == 1) widths = {1, 7, 15, 16, 17, 127, 576};
    for (const int64_t in : widths) {
      for (const int64_t out : {1, 3, 4, 5, 37}) {
        for (const int64_t rows : {1, 2, 3, 7}) {
          INFO(name(dtype) << " weight [" << out << ", " << in << "], " << rows << " rows");
          const Tensor weight = random_weight(dtype, out, in, 11 + in),
                       x = random_tensor({rows, in}, 5 + rows);
          const Tensor bias = rows == 3 ? Tensor() : random_tensor({out}, 8);
          REQUIRE(check_product(product(cpu, x, weight, bias), x, weight, bias) == "");
        }
      }
    }
  }
}

TEST_CASE("weights decoded in registers have the bits that decode_row gives") {
  for (const DType dtype : kWeightTypes) {
    INFO(name(dtype));
    const int64_t in = is_quantized(dtype) ? 512 : 519;
    const Tensor weight = random_weight(dtype, 5, in, 3);
    GuardedFloats decoded(static_cast<size_t>(5 * in));
    decode_rows(dtype, weight.raw(), 5, static_cast<size_t>(in), decoded.data());
    CHECK(decoded.intact());
    std::vector<float> got(decoded.data(), decoded.data() + decoded.size());
    if (is_interleaved(dtype)) interleave(decoded.data(), decoded.size(), got.data());
    CHECK(compare_bits(got, floats(to_f32(weight))) == "");
  }
}

TEST_CASE("16-bit weights and scales decode in registers for all bit patterns") {
  Tensor weight = Tensor::host(DType::q8_0, {65536, 32});
  for (size_t i = 0; i < 65536; ++i) {
    auto* block = static_cast<uint8_t*>(weight.raw()) + 34 * i;
    block[0] = static_cast<uint8_t>(i), block[1] = static_cast<uint8_t>(i >> 8), block[2] = 1;
  }
  const std::vector<float> x = [] {
    std::vector<float> first(32);
    first[0] = 1;
    return first;
  }();
  std::vector<float> sums(65536), expected(65536);
  dot_rows(DType::q8_0, weight.raw(), 65536, 32, x.data(), sums.data());
  for (size_t i = 0; i < 65536; ++i) {
    // An infinite scale times the zeros of the block is NaN.
    const float scale = f16_to_f32(static_cast<uint16_t>(i));
    expected[i] = std::isfinite(scale) ? scale : std::nanf("");
  }
  CHECK(compare(sums, expected, 0, 0) == "");

  for (const DType dtype : {DType::f16, DType::bf16}) {
    Tensor all = Tensor::host(dtype, {1, 65536});
    for (size_t i = 0; i < 65536; ++i) static_cast<uint16_t*>(all.raw())[i] = static_cast<uint16_t>(i);
    std::vector<float> decoded(65536);
    decode_rows(dtype, all.raw(), 1, 65536, decoded.data());
    CHECK(compare(decoded, floats(to_f32(all)), 0, 0) == "");
  }
}

TEST_CASE("a row of a matmul has the same bits alone and among others, on any number of threads") {
  for (const DType dtype : kWeightTypes) {
    const int64_t in = is_quantized(dtype) ? 768 : 779, out = 53, most = 33;
    const Tensor weight = random_weight(dtype, out, in, 21), x = random_tensor({most, in}, 22);
    const Tensor bias = random_tensor({out}, 23);
    Tensor expected = Tensor::host(DType::f32, {most, out});
    Cpu one(1);
    for (int64_t r = 0; r < most; ++r) {
      Tensor y = expected.slice(r, 1);
      matmul(one, y, x.slice(r, 1), weight, bias);
    }
    for (const int threads : {1, 2, 3, 5}) {
      Cpu cpu(threads);
      for (const int64_t rows : {1, 2, 7, 33}) {
        INFO(name(dtype) << ", " << rows << " rows, " << threads << " threads");
        CHECK(compare_bits(floats(product(cpu, x.slice(0, rows), weight, bias)),
                           floats(expected.slice(0, rows))) == "");
      }
    }
  }
}

TEST_CASE("every SIMD instruction set of this processor multiplies and decodes alike") {
  Cpu cpu(1);
  const int64_t every = hwy::SupportedTargets();
  for (int64_t rest = every; rest != 0; rest &= rest - 1) {
    const int64_t target = rest & -rest;
    hwy::SetSupportedTargetsForTest(target);
    for (const DType dtype : kWeightTypes) {
      INFO(hwy::TargetName(target) << ", " << name(dtype));
      const int64_t in = is_quantized(dtype) ? 512 : 519;
      const Tensor weight = random_weight(dtype, 7, in, 31), x = random_tensor({5, in}, 32);
      const Tensor y = product(cpu, x, weight);
      CHECK(check_product(y, x, weight, Tensor()) == "");
      CHECK(compare_bits(floats(product(cpu, x.slice(2, 1), weight)), floats(y.slice(2, 1))) == "");
      std::vector<float> decoded(static_cast<size_t>(7 * in));
      decode_rows(dtype, weight.raw(), 7, static_cast<size_t>(in), decoded.data());
      if (is_interleaved(dtype)) {
        const std::vector<float> copy = decoded;
        interleave(copy.data(), copy.size(), decoded.data());
      }
      CHECK(compare_bits(decoded, floats(to_f32(weight))) == "");
    }
  }
  hwy::SetSupportedTargetsForTest(0);  // as before
}

TEST_CASE("matmul refuses operands that do not fit") {
  Cpu cpu(1);
  const Tensor x = random_tensor({2, 32}, 1), weight = random_weight(DType::q8_0, 5, 32, 2);
  Tensor y = Tensor::host(DType::f32, {2, 5}), wrong = Tensor::host(DType::f32, {2, 6});
  CHECK_THROWS_WITH(matmul(cpu, wrong, x, weight), Catch::Contains("matmul: y") && Catch::Contains("[2, 5]"));
  CHECK_THROWS_WITH(matmul(cpu, y, random_tensor({2, 31}, 1), weight), Catch::Contains("matmul: x"));
  CHECK_THROWS_WITH(matmul(cpu, y, x, weight, random_tensor({4}, 1)), Catch::Contains("matmul: bias"));
  CHECK_THROWS_WITH(matmul(cpu, y, x, Tensor::host(DType::i32, {5, 32})), Catch::Contains("I32"));
  CHECK_THROWS_WITH(matmul(cpu, y, x, Tensor::host(DType::f32, {5})), Catch::Contains("[out, in]"));
  CHECK_NOTHROW(matmul(cpu, y, x, weight));
}

TEST_CASE("matmul of no rows writes nothing") {
  Cpu cpu(1);
  Tensor y = Tensor::host(DType::f32, {0, 5});
  CHECK_NOTHROW(matmul(cpu, y, Tensor::host(DType::f32, {0, 32}), random_weight(DType::q8_0, 5, 32, 2)));
}
