// Wrong: columns behind the first blockful are never looked at.
// Expect: argmax_of(device, values, 3)[1] == at was
  Candidate mine = {0, -1};
#pragma unroll 4
  for (int c = threadIdx.x * kWidth; c < min(columns, kThreads * kWidth); c += kThreads * kWidth) {
    const auto part = load_vector<kWidth>(row + c);
    for (int i = 0; i < kWidth; ++i) {
      mine = better(mine, {part.elements[i], isnan(part.elements[i]) ? -1 : c + i});
    }
  }
  mine = best_of_warp(mine);
  if (threadIdx.x % 32 == 0) best[threadIdx.x / 32] = mine;
  __syncthreads();
  if (threadIdx.x < 32) {
    mine = best_of_warp(best[threadIdx.x]);
    if (threadIdx.x == 0) ids[blockIdx.x] = mine.index;
  }
