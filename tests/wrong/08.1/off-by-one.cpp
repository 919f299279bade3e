// Wrong: interleaved pairs overlap: {i, i + 1}.
// Expect: ?
  if (pairing == RopePairing::interleaved) return {i, i + 1};
  return {i, i + pairs};
