// Wrong: four steps of shuffles instead of five: half of the lanes are left out.
// Expect: first difference at index 0
  // In each step a lane adds what the lane `offset` away holds; after five steps every lane has the warp's
  // sum.
  for (int offset = kWarp / 4; offset > 0; offset /= 2) value += __shfl_xor_sync(kAllLanes, value, offset);
  const int warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp, warps = blockDim.x / kWarp;
  if (lane == 0) partial[warp] = value;
  __syncthreads();
  value = lane < warps ? partial[lane] : 0;
  for (int offset = kWarp / 4; offset > 0; offset /= 2) value += __shfl_xor_sync(kAllLanes, value, offset);
  return value;
