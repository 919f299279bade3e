// Wrong: the weight is read as [in, out].
// Expect: weight [5, 33]; first difference at index 0
  const int64_t o = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x, r = blockIdx.y;
  if (o >= out) return;
  float sum = 0;
  for (int64_t i = 0; i < in; ++i) sum += x[r * in + i] * to_float(weight[i * out + o]);
  y[r * out + o] = bias == nullptr ? sum : sum + bias[o];
