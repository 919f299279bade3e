// Wrong: a NaN whose payload lies in the lower half becomes an infinity or overflows.
// Expect: a NaN whose payload would be cut off stays a NaN
  const uint32_t bits = bits_of(value);
  const uint32_t last_kept = (bits >> 16) & 1;
  return static_cast<uint16_t>((bits + 0x7fff + last_kept) >> 16);
