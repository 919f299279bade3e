// Wrong: spare threads of the last block turn memory behind x.
// Expect: elements before or after the output
  const int64_t index = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const int64_t row = index / pairs, i = index % pairs, token = row / heads;
  float sine, cosine;
  sincosf(static_cast<float>(positions[token]) * inverse_frequency[i], &sine, &cosine);
  turn(x + row * head_dim, rope_pair(pairing, i, pairs), cosine, sine);
