// Wrong: the 8 that stands for zero is not subtracted.
// Expect: Q4_0; first difference at index 0
  const float scale = f16_at(block.scale);
  for (int i = 0; i < kBlock; ++i) x[i] = scale * static_cast<float>(nibble(block.quants, i));
