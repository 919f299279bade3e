// argmax on the CPU: one row a task.
#include "ops/argmax.h"

#include <cmath>

#include "ops/check.h"
#include "rung/error.h"

namespace rung {

void argmax(Cpu& device, Tensor& ids, const Tensor& logits) {
  const int64_t rows = logits.shape().rows(), columns = logits.shape().columns();
  check_operand("argmax: ids", ids, DType::i32, {rows}, Place::host);
  check_operand("argmax: logits", logits, DType::f32, logits.shape(), Place::host);
  const float* x = logits.data<float>();
  int32_t* best = ids.data<int32_t>();
  device.pool.parallel_for(static_cast<size_t>(rows), [&](size_t row) {
    const float* values = x + static_cast<int64_t>(row) * columns;
    int64_t at = -1;
    for (int64_t c = 0; c < columns; ++c) {
      if (!std::isnan(values[c]) && (at < 0 || values[c] > values[at])) at = c;
    }
    best[row] = static_cast<int32_t>(at);
  });
}

}  // namespace rung
