// Conversion from float32 gives the value itself, or the nearest of the 16-bit type.
#include "ops/convert.h"

#include "tensor/device_tensor.h"
#include "tensor/float16.h"
#include "testing/catch.h"
#include "testing/data.h"

namespace rung {
namespace {

TEMPLATE_TEST_CASE("convert: to every type, sizes around a block", "", Cpu, Cuda) {
  TestType device;
  for (const int64_t size : {1, 255, 256, 257, 521}) {
    std::vector<float> values = testing::random_floats(static_cast<size_t>(size), 3);
    const Tensor x = upload(device, Tensor(DType::f32, {size}, values.data()));
    for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
      Tensor y = empty(device, dtype, {size});
      convert(device, y, x);
      const Tensor result = download(device, y);
      CAPTURE(size, name(dtype));
      for (int64_t i = 0; i < size; ++i) {
        if (dtype == DType::f32) REQUIRE(result.data<float>()[i] == values[static_cast<size_t>(i)]);
        if (dtype == DType::f16)
          REQUIRE(result.data<f16_t>()[i].bits == f32_to_f16(values[static_cast<size_t>(i)]));
        if (dtype == DType::bf16)
          REQUIRE(result.data<bf16_t>()[i].bits == f32_to_bf16(values[static_cast<size_t>(i)]));
      }
    }
  }
}

}  // namespace
}  // namespace rung
