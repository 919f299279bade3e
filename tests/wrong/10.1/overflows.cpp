// Wrong: g * e^g / (1 + e^g) is NaN where e^g is infinite.
// Expect: first difference at index 14: got
  return g * std::exp(g) / (1.0f + std::exp(g));
