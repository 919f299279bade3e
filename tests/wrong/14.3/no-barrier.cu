// Wrong: no barrier after the scores.
// Expect: attention of sequences:
  float *query = shared, *sums = query + shape.head_dim, *partial = sums + blockDim.x;
  const int64_t head = blockIdx.x, token = first_token + blockIdx.y;
  float* scores = global_scores == nullptr
                      ? partial + kWarp
                      : global_scores + (static_cast<int64_t>(blockIdx.y) * shape.heads + head) * row_scores;
  const int64_t s = sequence_of(sequences, token);
  const int64_t keys = sequences.context[s] - (sequences.query_begin[s + 1] - 1 - token);
  const int64_t row = token * shape.query_stride() + head * shape.head_dim;
  if (keys <= 0) {  // padding; the whole block leaves
    for (int64_t d = threadIdx.x; d < shape.head_dim; d += blockDim.x) y[row + d] = 0;
    return;
  }
  const int64_t kv_offset =
      sequences.first_row[s] * shape.kv_stride() + head / shape.group() * shape.head_dim;
  const int warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp, warps = blockDim.x / kWarp;
  for (int64_t d = threadIdx.x; d < shape.head_dim; d += blockDim.x) query[d] = q[row + d];
  __syncthreads();

  // A warp takes a key: its lanes read neighbouring elements and add up their products.
#pragma unroll 4
  for (int64_t key = warp; key < keys; key += warps) {
    const Element* key_row = k + kv_offset + key * shape.kv_stride();
    float sum = 0;
    for (int64_t d = lane; d < shape.head_dim; d += kWarp) sum += query[d] * to_float(key_row[d]);
    for (int offset = kWarp / 2; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    if (lane == 0) scores[key] = sum * scale;
  }
  const float total = softmax_numerators_of_block(scores, keys, partial);

  // The block's threads form `parts` rows of head_dim: part p adds keys p, p + parts …, then the parts are
  // added up.
  const int64_t parts = blockDim.x / shape.head_dim, part = threadIdx.x / shape.head_dim;
  const int64_t d = threadIdx.x % shape.head_dim;
  if (part < parts) {
    float sum = 0;
#pragma unroll 8
    for (int64_t key = part; key < keys; key += parts) {
      sum += scores[key] * to_float(v[kv_offset + key * shape.kv_stride() + d]);
    }
    sums[threadIdx.x] = sum;
  }
  __syncthreads();
  if (part == 0) {
    float sum = 0;
    for (int64_t p = 0; p < parts; ++p) sum += sums[p * shape.head_dim + d];
    y[row + d] = sum / total;
  }
