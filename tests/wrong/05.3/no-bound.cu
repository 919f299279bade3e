// Wrong: the last block's spare threads write behind y.
// Expect: table [13, 1] of F32, 5 ids
  const int64_t element = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const int64_t token = element / hidden, column = element % hidden;
  const int64_t blocks_per_row = hidden / Format::kElements;
  const int64_t block = ids[token] * blocks_per_row + column / Format::kElements;
  y[element] = Format::element(table + block * Format::kBytes, static_cast<int>(column % Format::kElements));
