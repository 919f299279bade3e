// Wrong: columns behind the last multiple of 256 are forgotten.
// Expect: first difference at index 0
  float sum = 0;
  for (int64_t c = threadIdx.x; c < columns / kTreeThreads * kTreeThreads; c += kTreeThreads) sum += x[c] * x[c];
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned half = kTreeThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
