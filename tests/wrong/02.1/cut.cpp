// Wrong: the lower half is cut off, not rounded.
// Expect: rounding to 16 bits agrees
  return static_cast<uint16_t>(bits_of(value) >> 16);
