// Wrong: the first part's maximum stays the common one.
// Expect: online softmax:
  const float largest = total.maximum;
  if (largest == -std::numeric_limits<float>::infinity()) return {1, 0};
  const MergeFactors factors{std::exp(total.maximum - largest), std::exp(part.maximum - largest)};
  total = {largest, total.sum * factors.kept + part.sum * factors.added};
  return factors;
