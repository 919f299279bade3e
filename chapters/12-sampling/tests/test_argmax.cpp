// argmax on both devices: ties, NaN, infinities, rows of one and of odd lengths.
#include <cmath>
#include <limits>

#include "ops/argmax.h"
#include "tensor/device_tensor.h"
#include "testing/catch.h"
#include "testing/compare.h"
#include "testing/data.h"

namespace rung {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

template <class Device>
std::vector<int32_t> argmax_of(Device& device, const std::vector<float>& values, int64_t rows) {
  const Tensor host(DType::f32, {rows, static_cast<int64_t>(values.size()) / rows},
                    const_cast<float*>(values.data()));
  Tensor ids = empty(device, DType::i32, {rows});
  argmax(device, ids, upload(device, host));
  const Tensor result = download(device, ids);
  return {result.data<int32_t>(), result.data<int32_t>() + rows};
}

TEMPLATE_TEST_CASE("argmax: the largest of each row, the first among equals", "", Cpu, Cuda) {
  TestType device;
  CHECK(argmax_of(device, {3}, 1) == std::vector<int32_t>{0});
  CHECK(argmax_of(device, {1, 5, 2, 5, 5, 0}, 2) == std::vector<int32_t>{1, 0});
  CHECK(argmax_of(device, {-kInfinity, -3, -kInfinity, kInfinity, 7, kInfinity}, 2) ==
        std::vector<int32_t>{1, 0});
}

TEMPLATE_TEST_CASE("argmax: NaN never wins, a row of NaN gives -1", "", Cpu, Cuda) {
  TestType device;
  CHECK(argmax_of(device, {NAN, -8, NAN, -9}, 1) == std::vector<int32_t>{1});
  CHECK(argmax_of(device, {NAN, NAN, NAN, 1, NAN, 2}, 2) == std::vector<int32_t>{-1, 2});
  CHECK(argmax_of(device, {-kInfinity, NAN}, 1) == std::vector<int32_t>{0});
}

TEMPLATE_TEST_CASE("argmax: wherever the largest stands in rows longer than a block", "", Cpu, Cuda) {
  TestType device;
  for (const int64_t columns : {1, 31, 32, 33, 257, 1023, 1024, 1025, 2100, 9001, 9004}) {
    for (const int64_t at : {int64_t{0}, columns / 2, columns - 1}) {
      std::vector<float> values = testing::random_floats(static_cast<size_t>(3 * columns), 7);
      values[static_cast<size_t>(columns + at)] = 1e6f;
      CAPTURE(columns, at);
      CHECK(argmax_of(device, values, 3)[1] == at);
    }
  }
}

}  // namespace
}  // namespace rung
