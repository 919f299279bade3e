// SiLU, SwiGLU and the residual addition on both devices, against transformers' and PyTorch's values.
#include <cmath>

#include "ops/add.h"
#include "ops/swiglu.h"
#include "rung/error.h"
#include "testing/catch.h"
#include "tests/data/silu_values.h"
#include "tests/devices.h"

using namespace rung;
using namespace rung::testing;

namespace {

constexpr int64_t kValues = sizeof silu_values::kGate / sizeof(float);
// exp is right to two units in the last place on either device, sum, quotient and product round once each.
constexpr float kRelative = 8 * 0x1p-24f;
// exp overflows for gates below about -88.7, where the result is smaller than this.
constexpr float kAbsolute = 1e-35f;

Tensor values(const float* numbers) {
  return tensor_of({numbers, numbers + kValues}, {kValues});
}

const int64_t kSizes[] = {1, 2, 31, 255, 256, 257, 1021, 4095, 4096, 4097, 10007};

}  // namespace

TEMPLATE_TEST_CASE("silu equals PyTorch's for ordinary and extreme numbers", "", Cpu, Cuda) {
  TestType& device = the_device<TestType>();
  GuardedOutput<TestType> y(device, {kValues});
  silu(device, y.tensor, upload(device, values(silu_values::kGate)));
  CHECK(compare(floats(y.values()), silu_values::kSilu, kAbsolute, kRelative) == "");
}

TEMPLATE_TEST_CASE("swiglu equals PyTorch's for ordinary and extreme numbers", "", Cpu, Cuda) {
  TestType& device = the_device<TestType>();
  GuardedOutput<TestType> y(device, {kValues});
  swiglu(device, y.tensor, upload(device, values(silu_values::kGate)),
         upload(device, values(silu_values::kUp)));
  CHECK(compare(floats(y.values()), silu_values::kGated, kAbsolute, kRelative) == "");
}

TEMPLATE_TEST_CASE("swiglu equals transformers' on a fixture's first layer", "", Cpu, Cuda) {
  TestType& device = the_device<TestType>();
  const Reference reference(GENERATE("llama-rope3", "qwen2-bias", "qwen3"));
  const Tensor gate = upload(device, reference.array("len7/ffn_gate")),
               up = upload(device, reference.array("len7/ffn_up"));
  GuardedOutput<TestType> y(device, gate.shape());
  swiglu(device, y.tensor, gate, up);
  CHECK(compare(floats(y.values()), floats(reference.array("len7/ffn_gated")), 1e-8f, 4e-6f) == "");
}

TEMPLATE_TEST_CASE("add gives transformers' layer output", "", Cpu, Cuda) {
  TestType& device = the_device<TestType>();
  const Reference reference("llama-rope3");
  GuardedOutput<TestType> y(device, {7, 64});
  copy(device, y.tensor, upload(device, reference.array("len7/attn_residual")));
  add(device, y.tensor, upload(device, reference.array("len7/ffn_output")));
  CHECK(compare_bits(floats(y.values()), floats(reference.array("len7/layer_output"))) == "");
}

TEMPLATE_TEST_CASE("swiglu is silu followed by the product, on all kinds of sizes", "", Cpu, Cuda) {
  TestType& device = the_device<TestType>();
  for (const int64_t size : kSizes) {
    const Tensor gate = upload(device, random_tensor({size}, 3, 4)),
                 up = upload(device, random_tensor({size}, 4));
    GuardedOutput<TestType> gated(device, {size}), fused(device, {size});
    silu(device, gated.tensor, gate);
    multiply(device, gated.tensor, gated.tensor, up);
    swiglu(device, fused.tensor, gate, up);
    INFO(size << " elements");
    CHECK(compare_bits(floats(fused.values()), floats(gated.values())) == "");
  }
}

TEST_CASE("element-wise operations on CUDA agree with the CPU on all kinds of sizes") {
  Cpu& cpu = the_device<Cpu>();
  Cuda& cuda = the_device<Cuda>();
  for (const int64_t size : kSizes) {
    const Tensor a = random_tensor({size}, 5, 4), b = random_tensor({size}, 6);
    GuardedOutput<Cpu> expected(cpu, {size});
    GuardedOutput<Cuda> got(cuda, {size});
    INFO(size << " elements");
    swiglu(cpu, expected.tensor, a, b);
    swiglu(cuda, got.tensor, upload(cuda, a), upload(cuda, b));
    CHECK(compare(floats(got.values()), floats(expected.values()), kAbsolute, kRelative) == "");
    multiply(cpu, expected.tensor, a, b);
    multiply(cuda, got.tensor, upload(cuda, a), upload(cuda, b));
    CHECK(compare_bits(floats(got.values()), floats(expected.values())) == "");
    copy(cpu, expected.tensor, a);
    copy(cuda, got.tensor, upload(cuda, a));
    add(cpu, expected.tensor, b);
    add(cuda, got.tensor, upload(cuda, b));
    CHECK(compare_bits(floats(got.values()), floats(expected.values())) == "");
  }
}

TEMPLATE_TEST_CASE("swiglu takes rows that begin anywhere", "", Cpu, Cuda) {
  TestType& device = the_device<TestType>();
  // Four rows of three columns behind the first: 12 elements, of which the first is no multiple of 16 bytes
  // away.
  const Tensor gate = upload(device, random_tensor({6, 3}, 9)),
               up = upload(device, random_tensor({4, 3}, 10));
  GuardedOutput<TestType> from_slice(device, {4, 3}), from_copy(device, {4, 3});
  swiglu(device, from_slice.tensor, gate.slice(1, 4), up);
  Tensor aligned = empty(device, DType::f32, {4, 3});
  copy(device, aligned, gate.slice(1, 4));
  swiglu(device, from_copy.tensor, aligned, up);
  CHECK(compare_bits(floats(from_slice.values()), floats(from_copy.values())) == "");
}

TEMPLATE_TEST_CASE("swiglu may write over either input", "", Cpu, Cuda) {
  TestType& device = the_device<TestType>();
  const Tensor gate = random_tensor({300}, 7), up = random_tensor({300}, 8);
  GuardedOutput<TestType> apart(device, {300}), over_gate(device, {300}), over_up(device, {300});
  swiglu(device, apart.tensor, upload(device, gate), upload(device, up));
  copy(device, over_gate.tensor, upload(device, gate));
  swiglu(device, over_gate.tensor, over_gate.tensor, upload(device, up));
  copy(device, over_up.tensor, upload(device, up));
  swiglu(device, over_up.tensor, upload(device, gate), over_up.tensor);
  CHECK(compare_bits(floats(over_gate.values()), floats(apart.values())) == "");
  CHECK(compare_bits(floats(over_up.values()), floats(apart.values())) == "");
}

TEMPLATE_TEST_CASE("element-wise operations refuse operands of different shapes", "", Cpu, Cuda) {
  TestType& device = the_device<TestType>();
  Tensor y = empty(device, DType::f32, {2, 3});
  const Tensor other = upload(device, random_tensor({3, 2}, 1));
  CHECK_THROWS_WITH(add(device, y, other), "add: an operand has shape [3, 2], expected [2, 3]");
  CHECK_THROWS_AS(silu(device, y, other), Error);
  CHECK_THROWS_AS(multiply(device, y, y, other), Error);
  CHECK_THROWS_AS(swiglu(device, y, other, y), Error);
}
