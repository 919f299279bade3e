// Matrix product on the CPU: weights are decoded from their stored type on the way to the multiplier.
#include "ops/matmul.h"

#include <algorithm>
#include <vector>

#include "ops/dot.h"
#include "ops/matmul_shape.h"

namespace rung {

namespace {

// Decoded weights that a thread works on: small enough to stay in its second-level cache beside a few rows of
// x.
constexpr int64_t kPanelFloats = 48 * 1024;

constexpr int64_t kRowsOfCopy = 16;  // of x, brought into another order in one task

// Rows of the weight in one task: a few tasks for each thread, so that none waits long for the last one.
int64_t rows_of_task(const MatmulShape& shape, int threads, int64_t most) {
  const int64_t even = threads == 1 ? shape.out : (shape.out + 4 * threads - 1) / (4 * threads);
  return std::clamp<int64_t>((even + 3) / 4 * 4, 4, std::max<int64_t>(most, 4));
}

// One row of x: every weight is used once, so it goes from memory to the multiplier and nowhere else.
void multiply_one_row(const MatmulShape& shape, const Tensor& weight, const float* x, float* y, int64_t begin,
                      int64_t count) {
  dot_rows(weight.dtype(), weight.slice(begin, count).raw(), count, shape.in, x, y + begin);
}

// Many rows of x: a panel of weights is decoded once and used for all of them.
void multiply_panel(const MatmulShape& shape, const Tensor& weight, const float* x, float* y, int64_t begin,
                    int64_t count) {
  static thread_local std::vector<float> panel;
  const void* stored = weight.slice(begin, count).raw();
  const float* decoded = static_cast<const float*>(stored);
  if (weight.dtype() != DType::f32) {
    panel.resize(std::max(panel.size(), static_cast<size_t>(count * shape.in)));
    decode_rows(weight.dtype(), stored, count, shape.in, panel.data());
    decoded = panel.data();
  }
  dot_tiles(decoded, count, shape.in, x, shape.rows, shape.in, shape.in, y + begin, shape.out);
}

}  // namespace

void matmul(Cpu& device, Tensor& y, const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const MatmulShape shape = check_matmul(y, x, weight, bias, Place::host);
  if (shape.rows == 0 || shape.out == 0) return;
  const float *inputs = x.data<float>(), *offsets = bias.empty() ? nullptr : bias.data<float>();
  float* outputs = y.data<float>();

  static thread_local std::vector<float> interleaved;
  if (is_interleaved(weight.dtype())) {
    interleaved.resize(std::max(interleaved.size(), static_cast<size_t>(x.elements())));
    float* copy = interleaved.data();
    device.pool.parallel_for(static_cast<size_t>((shape.rows + kRowsOfCopy - 1) / kRowsOfCopy),
                             [&](size_t part) {
                               const int64_t begin = static_cast<int64_t>(part) * kRowsOfCopy,
                                             rows = std::min(kRowsOfCopy, shape.rows - begin);
                               interleave(inputs + begin * shape.in, static_cast<size_t>(rows * shape.in),
                                          copy + begin * shape.in);
                             });
    inputs = copy;
  }

  const bool one_row = shape.rows == 1;
  const int64_t most = one_row ? 256 : kPanelFloats / std::max<int64_t>(shape.in, 1) / 4 * 4;
  const int64_t step = rows_of_task(shape, device.pool.threads(), most);
  device.pool.parallel_for((shape.out + step - 1) / step, [&](size_t task) {
    const int64_t begin = static_cast<int64_t>(task) * step, count = std::min(step, shape.out - begin);
    (one_row ? multiply_one_row : multiply_panel)(shape, weight, inputs, outputs, begin, count);
    if (offsets == nullptr) return;
    for (int64_t r = 0; r < shape.rows; ++r) {
      for (int64_t o = begin; o < begin + count; ++o) outputs[r * shape.out + o] += offsets[o];
    }
  });
}

}  // namespace rung
