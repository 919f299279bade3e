// Wrong: the sum is normed, but the residual stream keeps its old values.
// Expect: first difference at index 0
  float sum = 0;
  for (int64_t c = threadIdx.x; c < columns; c += blockDim.x) {
    const float value = residual[c] + x[c];
    sum += value * value;
  }
  const float scale = scale_of(block_sum(sum, partial), columns, epsilon);
  for (int64_t c = threadIdx.x; c < columns; c += blockDim.x) y[c] = (residual[c] + x[c]) * scale * weight[c];
