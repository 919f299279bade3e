// Wrong: the numerators are not divided by their sum.
// Expect: 2 of 3 tokens, 3 heads on 1, head_dim 6; first difference at index 0: got 0.9
  __shared__ float partial[kWarp];
  float* row = scores + static_cast<int64_t>(blockIdx.x) * columns;
  const float sum = softmax_numerators_of_block(row, columns, partial);
  for (int64_t j = threadIdx.x; j < columns; j += blockDim.x) row[j] /= sum > 0 ? 1.0f : sum;
