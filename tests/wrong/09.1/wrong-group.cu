// Wrong: query head h reads key head h modulo the number of key heads.
// Expect: 3 of 5 tokens, 6 heads on 3, head_dim 32; first difference at index 5: got
  const int64_t key = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x, head = blockIdx.y,
                token = blockIdx.z;
  if (key >= shape.context) return;
  const float* query = q + token * shape.query_stride() + head * shape.head_dim;
  const Element* row = k + key * shape.kv_stride() + head % (shape.heads / shape.group()) * shape.head_dim;
  float sum = 0;
  for (int64_t d = 0; d < shape.head_dim; ++d) sum += query[d] * to_float(row[d]);
  const bool visible = key < first_keys + token;
  scores[(token * shape.heads + head) * shape.context + key] = visible ? sum * scale : -INFINITY;
