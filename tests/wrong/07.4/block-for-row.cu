// Wrong: the warp is not counted: all warps of a block compute one row.
// Expect: first difference at index 2: got nan
  const int64_t o = static_cast<int64_t>(blockIdx.x);
  if (o >= out) return;  // whole warps leave: the shuffles below find all their lanes
  const int lane = threadIdx.x % kWarp;
  const auto* row = reinterpret_cast<const Elements<Weight, kCount>*>(weight + o * in);
  float sums[kRows] = {};
#pragma unroll 4
  for (int64_t chunk = lane; chunk < in / kCount; chunk += kWarp) {
    const Elements<Weight, kCount> weights = row[chunk];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      if (r >= rows) break;
      const auto inputs = reinterpret_cast<const Elements<float, kCount>*>(x + r * in)[chunk];
#pragma unroll
      for (int k = 0; k < kCount; ++k) {
        sums[r] = fmaf(to_float(weights.value[k]), inputs.value[k], sums[r]);
      }
    }
  }
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    if (r >= rows) break;
    for (int offset = kWarp / 2; offset > 0; offset /= 2) {
      sums[r] += __shfl_xor_sync(0xffffffffu, sums[r], offset);
    }
    if (lane == 0) y[r * out + o] = bias == nullptr ? sums[r] : sums[r] + bias[o];
  }
