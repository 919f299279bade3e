// Wrong: interleaved pairs overlap: {i, i + 1}.
// Expect: pair 1; test_rope.cpp
  if (pairing == RopePairing::interleaved) return {i, i + 1};
  return {i, i + pairs};
