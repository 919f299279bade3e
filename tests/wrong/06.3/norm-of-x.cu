// Wrong: the norm is taken of x alone.
// Expect: first difference at index 0
  float sum = 0;
  for (int64_t c = threadIdx.x; c < columns; c += blockDim.x) {
    const float value = residual[c] + x[c];
    residual[c] = value;
    sum += x[c] * x[c];
  }
  const float scale = scale_of(block_sum(sum, partial), columns, epsilon);
  for (int64_t c = threadIdx.x; c < columns; c += blockDim.x) y[c] = residual[c] * scale * weight[c];
