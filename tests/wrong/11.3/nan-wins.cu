// Wrong: a NaN is a candidate like any number.
// Expect: argmax: NaN never wins
  Candidate mine = {0, -1};
#pragma unroll 8
  for (int c = threadIdx.x; c < columns; c += kThreads) {
    const float value = row[c];
    mine = better(mine, {value, c});
  }
  mine = best_of_warp(mine);
  if (threadIdx.x % 32 == 0) best[threadIdx.x / 32] = mine;
  __syncthreads();
  if (threadIdx.x < 32) {
    mine = best_of_warp(best[threadIdx.x]);
    if (threadIdx.x == 0) ids[blockIdx.x] = mine.index;
  }
