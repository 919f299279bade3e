// Wrong: half-split heads turn their neighbours.
// Expect: half_split.second == halves[i][1]
  if (pairing == RopePairing::interleaved) return {2 * i, 2 * i + 1};
  return {2 * i, 2 * i + 1};
