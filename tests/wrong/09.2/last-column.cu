// Wrong: the last column is left as it was.
// Expect: 2 of 3 tokens, 3 heads on 1, head_dim 6; first difference at index 11: got
  __shared__ float partial[kWarp];
  float* row = scores + static_cast<int64_t>(blockIdx.x) * columns;
  const float sum = softmax_numerators_of_block(row, columns, partial);
  for (int64_t j = threadIdx.x; j < columns - 1; j += blockDim.x) row[j] /= sum;
