// Wrong: the numerators are not divided by their sum.
// Expect: token 0, head 0, element 0: got
  __shared__ float partial[kWarp];
  float* row = scores + static_cast<int64_t>(blockIdx.x) * columns;
  const float sum = softmax_numerators_of_block(row, columns, partial);
  for (int64_t j = threadIdx.x; j < columns; j += blockDim.x) row[j] /= sum > 0 ? 1.0f : sum;
