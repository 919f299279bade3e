// Wrong: the barrier stands inside the if: threads with nothing left to add never reach it.
// Expect: barrier divergence
  float sum = 0;
  for (int64_t c = threadIdx.x; c < columns; c += kTreeThreads) sum += x[c] * x[c];
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned half = kTreeThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      sums[threadIdx.x] += sums[threadIdx.x + half];
      __syncthreads();
    }
  }
