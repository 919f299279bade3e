// Wrong: beyond the edge of `in` the tiles hold the beginning of the next row instead of zeros.
// Expect: first difference at index
  __shared__ float x_tile[kTile][kTile];  // [row][i]
  __shared__ float weight_tile[kTile]
                              [kTile + 1];  // [output][i]; the extra column spreads a column over all banks
  const int64_t first_out = static_cast<int64_t>(blockIdx.x) * kTile;
  const int64_t o = first_out + threadIdx.x, r = static_cast<int64_t>(blockIdx.y) * kTile + threadIdx.y;
  const int64_t loaded_out = first_out + threadIdx.y;  // neighbouring threads load neighbouring i
  float sum = 0;
  for (int64_t first = 0; first < in; first += kTile) {
    const int64_t i = first + threadIdx.x;
    x_tile[threadIdx.y][threadIdx.x] = r < rows ? x[r * in + i] : 0;
    weight_tile[threadIdx.y][threadIdx.x] =
        loaded_out < out ? to_float(weight[loaded_out * in + i]) : 0;
    __syncthreads();  // the tiles are complete
    for (int k = 0; k < kTile; ++k) sum += x_tile[threadIdx.y][k] * weight_tile[threadIdx.x][k];
    __syncthreads();  // everybody is done with them
  }
  if (r < rows && o < out) y[r * out + o] = bias == nullptr ? sum : sum + bias[o];
