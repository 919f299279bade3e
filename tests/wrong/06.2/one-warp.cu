// Wrong: the warps' sums are never added up.
// Expect: warp shuffles, 1 x 129; first difference at index 0
  // In each step a lane adds what the lane `offset` away holds; after five steps every lane has the warp's
  // sum.
  for (int offset = kWarp / 2; offset > 0; offset /= 2) value += __shfl_xor_sync(kAllLanes, value, offset);
  const int warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp, warps = blockDim.x / kWarp;
  if (lane == 0) partial[warp] = value;
  __syncthreads();
  return warps > 0 ? partial[0] : value;
