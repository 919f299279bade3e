// Wrong: the column counts fours, not elements.
// Expect: first difference at index 4
  const int64_t four = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const int64_t fours_per_row = hidden / 4;
  if (four >= tokens * fours_per_row) return;
  const int64_t token = four / fours_per_row, column = four % fours_per_row;
  const unsigned char* row = table + ids[token] * (hidden / Format::kElements * Format::kBytes);
  reinterpret_cast<float4*>(y)[four] = load_four<Format>(row, column);
