// Wrong: the id is taken for the first block of the row.
// Expect: first difference at index 0
  const int64_t element = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (element >= tokens * hidden) return;  // the last block may have threads to spare
  const int64_t token = element / hidden, column = element % hidden;
  const int64_t block = ids[token] + column / Format::kElements;
  y[element] = Format::element(table + block * Format::kBytes, static_cast<int>(column % Format::kElements));
