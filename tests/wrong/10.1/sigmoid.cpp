// Wrong: the sigmoid without its factor g.
// Expect: first difference at index 0: got 0.5, expected 0
  return 1.0f / (1.0f + std::exp(-g));
