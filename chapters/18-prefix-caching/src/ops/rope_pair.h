// What both devices agree on: the checks, and which two elements of a head make a pair.
#pragma once

#include "model_file/hyperparameters.h"
#include "ops/check.h"
#include "rung/cuda.h"
#include "rung/error.h"
#include "rung/not_done.h"

namespace rung {

// Elements `first` and `second` of a head turn together.
struct RopePair {
  int64_t first, second;
};

// Pair i of a head whose leading 2 * pairs elements turn.
__host__ __device__ inline RopePair rope_pair(RopePairing pairing, int64_t i, int64_t pairs) {
  // BEGIN SOLUTION 08.1
  if (pairing == RopePairing::interleaved) return {2 * i, 2 * i + 1};
  return {i, i + pairs};
  // STUB: (void)pairing;
  // STUB: (void)i;
  // STUB: RUNG_NOT_DONE("08.1");
  // END SOLUTION
}

inline void check_rope(const Tensor& x, const Tensor& positions, const Tensor& inverse_frequency,
                       Place place) {
  const Shape& shape = x.shape();
  if (shape.dims() != 3) fail("rope: x has shape ", shape.text(), ", expected [tokens, heads, head_dim]");
  check_operand("rope: x", x, DType::f32, shape, place);
  check_operand("rope: positions", positions, DType::i32, {shape[0]}, place);
  const int64_t pairs = inverse_frequency.elements();
  check_operand("rope: inverse_frequency", inverse_frequency, DType::f32, {pairs}, place);
  if (2 * pairs > shape[2]) fail("rope: ", pairs, " pairs do not fit into heads of ", shape[2], " elements");
}

}  // namespace rung
