// Wrong: the sigmoid without its factor g.
// Expect: ?
  return 1.0f / (1.0f + std::exp(-g));
