// Wrong: the newest key's value is left out.
// Expect: 1 of 1 tokens, 1 heads on 1, head_dim 2; token 0, head 0, element 0: got 0.000000
  const int64_t head = blockIdx.x, token = blockIdx.y, d = threadIdx.x;
  if (d >= shape.head_dim) return;
  const float* row = weights + (token * shape.heads + head) * shape.context;
  const Element* values = v + head / shape.group() * shape.head_dim + d;
  float sum = 0;
  for (int64_t key = 0; key + 1 < first_keys + token; ++key)
    sum += row[key] * to_float(values[key * shape.kv_stride()]);
  y[token * shape.query_stride() + head * shape.head_dim + d] = sum;
