// Wrong: a NaN whose payload lies in the lower half becomes an infinity or overflows.
// Expect: rounding to 16 bits agrees
  const uint32_t bits = bits_of(value);
  const uint32_t last_kept = (bits >> 16) & 1;
  return static_cast<uint16_t>((bits + 0x7fff + last_kept) >> 16);
