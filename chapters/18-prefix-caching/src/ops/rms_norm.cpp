// RMSNorm on the CPU: rows are shared out among the threads, each row is summed in one fixed order.
#include "ops/rms_norm.h"

#include <cmath>

#include "ops/rms_norm_checks.h"

namespace rung {

namespace {

// The sum of squares in 16 interleaved partial sums, which fill the vector registers, then pairwise. The
// order depends on the number of columns alone.
float sum_of_squares(const float* x, int64_t columns) {
  constexpr int kLanes = 16;
  float sums[kLanes] = {};
  int64_t c = 0;
  for (; c + kLanes <= columns; c += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) sums[lane] += x[c + lane] * x[c + lane];
  }
  for (int lane = 0; c < columns; ++c, ++lane) sums[lane] += x[c] * x[c];
  for (int half = kLanes / 2; half > 0; half /= 2) {
    for (int lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
  }
  return sums[0];
}

void normalize_row(float* y, const float* x, const float* weight, int64_t columns, float epsilon) {
  const float mean = sum_of_squares(x, columns) / static_cast<float>(columns);
  const float scale = 1.0f / std::sqrt(mean + epsilon);
  for (int64_t c = 0; c < columns; ++c) y[c] = x[c] * scale * weight[c];
}

}  // namespace

void rms_norm(Cpu& device, Tensor& y, const Tensor& x, const Tensor& weight, float epsilon) {
  check_rms_norm(y, x, weight, Place::host);
  const int64_t columns = x.shape().columns();
  const float *in = x.data<float>(), *w = weight.data<float>();
  float* out = y.data<float>();
  device.pool.parallel_for(static_cast<size_t>(x.shape().rows()), [&](size_t row) {
    normalize_row(out + row * columns, in + row * columns, w, columns, epsilon);
  });
}

void add_rms_norm(Cpu& device, Tensor& y, Tensor& residual, const Tensor& x, const Tensor& weight,
                  float epsilon) {
  check_add_rms_norm(y, residual, x, weight, Place::host);
  const int64_t columns = x.shape().columns();
  const float *in = x.data<float>(), *w = weight.data<float>();
  float *out = y.data<float>(), *stream = residual.data<float>();
  device.pool.parallel_for(static_cast<size_t>(x.shape().rows()), [&](size_t row) {
    float* r = stream + row * columns;
    for (int64_t c = 0; c < columns; ++c) r[c] += in[row * columns + c];
    normalize_row(out + row * columns, r, w, columns, epsilon);
  });
}

}  // namespace rung
