// Wrong: the sum so far is not scaled to the new maximum.
// Expect: online softmax:
  const float largest = std::max(total.maximum, part.maximum);
  if (largest == -std::numeric_limits<float>::infinity()) return {1, 0};
  const MergeFactors factors{std::exp(total.maximum - largest), std::exp(part.maximum - largest)};
  total = {largest, total.sum + part.sum * factors.added};
  return factors;
