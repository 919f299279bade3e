// Shapes and tensors: sizes, views, what owns the memory.
#include "tensor/tensor.h"

#include "testing/catch.h"
#include "tests/error_text.h"

namespace rung {

using testing::complaint;
using testing::error_of;

TEST_CASE("a shape knows rows, columns and elements") {
  const Shape matrix{3, 5}, cube{2, 3, 5}, vector{7}, scalar;
  CHECK(matrix.elements() == 15);
  CHECK(matrix.rows() == 3);
  CHECK(matrix.columns() == 5);
  CHECK(cube.rows() == 6);
  CHECK(cube.columns() == 5);
  CHECK(vector.rows() == 1);
  CHECK(vector.columns() == 7);
  CHECK(scalar.elements() == 1);
  CHECK(cube.text() == "[2, 3, 5]");
  CHECK(matrix != cube);
  CHECK(matrix == Shape{3, 5});
  CHECK(complaint(error_of([] { Shape{1, 2, 3, 4, 5}; }), {"0 to 4 dimensions", "5"}) == "");
  CHECK(complaint(error_of([] { Shape{4, -1}; }), {"dimension 1", "-1"}) == "");
}

TEST_CASE("stored types know their bytes") {
  CHECK(row_bytes(DType::f32, 7) == 28);
  CHECK(row_bytes(DType::bf16, 7) == 14);
  CHECK(row_bytes(DType::q4_0, 64) == 36);
  CHECK(row_bytes(DType::q4_1, 576) == 360);
  CHECK(row_bytes(DType::q8_0, 576) == 612);
  CHECK(row_bytes(DType::q6_k, 512) == 420);
  CHECK(is_quantized(DType::q5_k));
  CHECK_FALSE(is_quantized(DType::f16));
}

TEST_CASE("host tensors are zeroed, aligned and live as long as a copy") {
  Tensor copy;
  CHECK(copy.empty());
  {
    const Tensor tensor = Tensor::host(DType::f32, {3, 5});
    CHECK(reinterpret_cast<uintptr_t>(tensor.raw()) % 64 == 0);
    for (int i = 0; i < 15; ++i) CHECK(tensor.data<float>()[i] == 0);
    tensor.data<float>()[14] = 9;
    copy = tensor;
  }
  CHECK(copy.data<float>()[14] == 9);
  CHECK(copy.bytes() == 60);
}

TEST_CASE("slices and reshapes view the same elements") {
  const Tensor tensor = Tensor::host(DType::f32, {4, 2, 3});
  for (int i = 0; i < 24; ++i) tensor.data<float>()[i] = static_cast<float>(i);
  const Tensor middle = tensor.slice(1, 2);
  CHECK(middle.shape() == Shape{2, 2, 3});
  CHECK(middle.data<float>()[0] == 6);
  CHECK(tensor.reshaped({8, 3}).slice(7, 1).data<float>()[2] == 23);
  CHECK(tensor.slice(4, 0).elements() == 0);
  const Tensor blocks = Tensor::host(DType::q8_0, {3, 64});
  CHECK(static_cast<char*>(blocks.slice(2, 1).raw()) - static_cast<char*>(blocks.raw()) == 2 * 68);
  CHECK(complaint(error_of([&] { tensor.slice(3, 2); }), {"rows 3 to 5", "[4, 2, 3]"}) == "");
  CHECK(complaint(error_of([&] { tensor.slice(-1, 1); }), {"[4, 2, 3]"}) == "");
  CHECK(complaint(error_of([&] { tensor.reshaped({5, 5}); }), {"[4, 2, 3]", "[5, 5]"}) == "");
}

TEST_CASE("a tensor is read as what it is stored as, in the shape it has") {
  const Tensor tensor = Tensor::host(DType::f16, {2, 2});
  CHECK(complaint(error_of([&] { tensor.data<float>(); }), {"F16", "expected F32"}) == "");
  CHECK(tensor.data<f16_t>() == tensor.raw());
  CHECK(complaint(error_of([&] {
                    check_shape("the query", tensor, {2, 3});
                  }),
                  {"the query", "[2, 2]", "[2, 3]"}) == "");
  CHECK(complaint(error_of([] {
                    Tensor::host(DType::q4_0, {2, 33});
                  }),
                  {"33", "Q4_0", "multiple of 32"}) == "");
}

}  // namespace rung
