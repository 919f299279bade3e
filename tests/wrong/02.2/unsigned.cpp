// Wrong: the 8 that stands for zero is not subtracted.
// Expect: ?
  const float scale = f16_at(block.scale);
  for (int i = 0; i < kBlock; ++i) x[i] = scale * static_cast<float>(nibble(block.quants, i));
