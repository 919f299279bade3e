// Wrong: the sum is normed, but the residual stream keeps its old values.
// Expect: first difference at index 0
  float sum = 0;
  for (int64_t c = first; c < columns; c += step) {
    const auto part = load_vector<kWidth>(residual + c), added = load_vector<kWidth>(x + c);
    for (int i = 0; i < kWidth; ++i) {
      const float value = part.elements[i] + added.elements[i];
      sum += value * value;
    }
  }
  const float scale = scale_of(block_sum(sum, partial), columns, epsilon);
  for (int64_t c = first; c < columns; c += step) {
    auto part = load_vector<kWidth>(residual + c);
    const auto added = load_vector<kWidth>(x + c), weights = load_vector<kWidth>(weight + c);
    for (int i = 0; i < kWidth; ++i) {
      part.elements[i] = (part.elements[i] + added.elements[i]) * scale * weights.elements[i];
    }
    store_vector(y + c, part);
  }
