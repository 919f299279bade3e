// Wrong: columns behind the first blockful are never looked at.
// Expect: argmax_of(device, values, 3)[1] == at was
  Candidate mine = {0, -1};
#pragma unroll 8
  for (int c = threadIdx.x; c < min(columns, kThreads); c += kThreads) {
    const float value = row[c];
    mine = better(mine, {value, isnan(value) ? -1 : c});
  }
  mine = best_of_warp(mine);
  if (threadIdx.x % 32 == 0) best[threadIdx.x / 32] = mine;
  __syncthreads();
  if (threadIdx.x < 32) {
    mine = best_of_warp(best[threadIdx.x]);
    if (threadIdx.x == 0) ids[blockIdx.x] = mine.index;
  }
