// Wrong: neighbouring elements share a byte; in the format elements i and i + 16 do.
// Expect: Q4_0; first difference at index 4
  const float scale = f16_at(block.scale);
  for (int i = 0; i < kBlock; ++i) x[i] = scale * static_cast<float>(((block.quants[i / 2] >> (i % 2 * 4)) & 15) - 8);
