// Wrong: the last tile is left out.
// Expect: first difference at index 0: got
  SoftmaxState state;
  float total = 0;
  const int end = sequences.key_tile_begin[sequence + 1];
#pragma unroll 4
  for (int64_t tile = sequences.key_tile_begin[sequence]; tile < end - 1; ++tile) {
    const int64_t row = tile * shape.heads + head;
    const MergeFactors factors = merge_states(state, states[row]);
    total = merge_values(total, sums[row * shape.head_dim + d], factors);
  }
  y[sequences.query_begin[sequence] * shape.query_stride() + head * shape.head_dim + d] =
      sequences.context[sequence] < 1 ? 0.0f : __fdiv_rn(total, state.sum);
