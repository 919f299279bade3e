// Wrong: query head h reads value head h modulo the number of value heads.
// Expect: 6 heads on 3, head_dim 32; token 0, head 1, element 0: got
  const int64_t head = blockIdx.x, token = blockIdx.y, d = threadIdx.x;
  if (d >= shape.head_dim) return;
  const float* row = weights + (token * shape.heads + head) * shape.context;
  const Element* values = v + head % (shape.heads / shape.group()) * shape.head_dim + d;
  float sum = 0;
  for (int64_t key = 0; key < first_keys + token; ++key)
    sum += row[key] * to_float(values[key * shape.kv_stride()]);
  y[token * shape.query_stride() + head * shape.head_dim + d] = sum;
