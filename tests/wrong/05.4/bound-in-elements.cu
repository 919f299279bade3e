// Wrong: the number of threads is compared with the elements instead of the fours.
// Expect: table [144, 32] of Q4_0, 148 ids
  const int64_t four = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const int64_t fours_per_row = hidden / 4;
  if (four >= tokens * hidden) return;
  const int64_t token = four / fours_per_row, column = four % fours_per_row * 4;
  const unsigned char* row = table + ids[token] * (hidden / Format::kElements * Format::kBytes);
  reinterpret_cast<float4*>(y)[four] = load_four<Format>(row, column);
