// Wrong: the lower half is cut off, not rounded.
// Expect: ?
  return static_cast<uint16_t>(bits_of(value) >> 16);
