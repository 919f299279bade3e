// Wrong: the pairs turn clockwise.
// Expect: got -0.841470957, expected 0.841470957
    float* token_values = values + static_cast<int64_t>(token) * heads * head_dim;
    for (int64_t i = 0; i < pairs; ++i) {
      const float angle = static_cast<float>(position[token]) * frequency[i];
      const float c = std::cos(angle), s = std::sin(angle);
      const RopePair pair = rope_pair(pairing, i, pairs);
      for (int64_t head = 0; head < heads; ++head) {
        float* h = token_values + head * head_dim;
        const float a = h[pair.first], b = h[pair.second];
        h[pair.first] = a * c + b * s;
        h[pair.second] = b * c - a * s;
      }
    }
