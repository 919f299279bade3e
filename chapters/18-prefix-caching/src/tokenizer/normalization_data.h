// The parts of the Unicode Character Database that normal form C needs.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rung {

// code stands for first followed by second (0: for first alone). composes: the two become code again.
struct Decomposition {
  char32_t code, first, second;
  bool composes;
};
extern const Decomposition kDecompositions[];  // sorted by code
extern const size_t kDecompositionCount;

// Characters whose canonical combining class is not 0.
struct CombiningRange {
  char32_t first, last;
  uint8_t combining_class;
};
extern const CombiningRange kCombiningRanges[];  // sorted
extern const size_t kCombiningRangeCount;

}  // namespace rung
