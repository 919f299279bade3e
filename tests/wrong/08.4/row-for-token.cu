// Wrong: the row, token * heads + head, is taken for the token.
// Expect: 5 x 3 x 2, 2 turn; first difference at index 2
  const int64_t index = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (index >= tokens * heads * pairs) return;
  const int64_t row = index / pairs, i = index % pairs, token = row % tokens;
  float sine, cosine;
  sincosf(static_cast<float>(positions[token]) * inverse_frequency[i], &sine, &cosine);
  turn(x + row * head_dim, rope_pair(pairing, i, pairs), cosine, sine);
