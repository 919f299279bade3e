// Wrong: the lanes' sums are not added up; lane 0 writes its own.
// Expect: gemv, F32, 1 rows, weight [5, 33]; first difference at index 0
  const int64_t o = static_cast<int64_t>(blockIdx.x) * kWarpsOfBlock + threadIdx.x / kWarp;
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
    if (lane == 0) y[r * out + o] = bias == nullptr ? sums[r] : sums[r] + bias[o];
  }
