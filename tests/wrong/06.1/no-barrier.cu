// Wrong: no barrier between the levels of the tree.
// Expect: first difference at index 0
  float sum = 0;
  for (int64_t c = threadIdx.x; c < columns; c += kTreeThreads) sum += x[c] * x[c];
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned half = kTreeThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  }
