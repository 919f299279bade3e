#include "ops/convert.h"

#include <algorithm>
#include <cstring>

#include "rung/error.h"
#include "tensor/float16.h"

namespace rung {

namespace {

constexpr int64_t kElementsOfTask = 16384;

}  // namespace

void convert(Cpu& device, Tensor& y, const Tensor& x) {
  const int64_t elements = x.elements();
  if (y.elements() != elements) fail("convert: ", elements, " elements do not fit ", y.shape().text());
  if (y.dtype() != DType::f32 && y.dtype() != DType::f16 && y.dtype() != DType::bf16) {
    fail("convert: the target is ", name(y.dtype()), ", expected F32, F16 or BF16");
  }
  const float* from = x.data<float>();
  device.pool.parallel_for((elements + kElementsOfTask - 1) / kElementsOfTask, [&](size_t task) {
    const int64_t begin = static_cast<int64_t>(task) * kElementsOfTask,
                  end = std::min(begin + kElementsOfTask, elements);
    if (y.dtype() == DType::f32) {
      std::memcpy(y.data<float>() + begin, from + begin, static_cast<size_t>(end - begin) * sizeof(float));
      return;
    }
    const auto round = y.dtype() == DType::f16 ? f32_to_f16 : f32_to_bf16;
    auto* to = static_cast<uint16_t*>(y.raw());
    for (int64_t i = begin; i < end; ++i) to[i] = round(from[i]);
  });
}

}  // namespace rung
