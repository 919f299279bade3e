// Wrong: ties are rounded up instead of to the even neighbour.
// Expect: rounding to 16 bits agrees
  const uint32_t bits = bits_of(value);
  if ((bits & 0x7fffffff) > 0x7f800000) return static_cast<uint16_t>((bits >> 16) | 0x40);  // keep it a NaN
  return static_cast<uint16_t>((bits + 0x8000) >> 16);
