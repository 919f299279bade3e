// Wrong: the scores are not multiplied by scale.
// Expect: 1 of 1 tokens, 1 heads on 1, head_dim 2; first difference at index 0: got 17.4
  const int64_t key = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x, head = blockIdx.y,
                token = blockIdx.z;
  if (key >= shape.context) return;
  const float* query = q + token * shape.query_stride() + head * shape.head_dim;
  const Element* row = k + key * shape.kv_stride() + head / shape.group() * shape.head_dim;
  float sum = 0;
  for (int64_t d = 0; d < shape.head_dim; ++d) sum += query[d] * to_float(row[d]);
  const bool visible = key < first_keys + token;
  scores[(token * shape.heads + head) * shape.context + key] = visible ? sum : -INFINITY;
