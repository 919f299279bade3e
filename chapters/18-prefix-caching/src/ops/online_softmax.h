// Softmax in one pass: what has to be known about a part of a row of scores so that parts can be joined
// later.
//
// A part is known by its maximum m, its sum l = sum of exp(score - m), and its weighted values a = sum of
// exp(score - m) * v. Two parts together have
//
//   m = max(m1, m2)    l = l1 * exp(m1 - m) + l2 * exp(m2 - m)    a = a1 * exp(m1 - m) + a2 * exp(m2 - m)
//
// and a row's attention is a / l of all its parts (Milakov and Gimelshein 2018, arXiv:1805.02867; with
// values: Rabe and Staats 2021, arXiv:2112.05682).
#pragma once

#include <limits>

#include "tensor/tensor.h"

namespace rung {

// Keys of a part, on every device: parts begin at multiples of it, so where they are cut depends neither on
// how many queries there are nor on how the work is shared out.
constexpr int kTileKeys = 64;

// The default is that of no scores at all.
struct SoftmaxState {
  float maximum = -std::numeric_limits<float>::infinity();
  float sum = 0;
};

struct MergeFactors {
  float kept, added;
};

// Adds a part to a total. Returns what the weighted values of either are to be multiplied with before they
// are added. A part whose scores are all minus infinity adds nothing.
MergeFactors merge(SoftmaxState& total, SoftmaxState part);

// attention() of ops/attention.h in one pass, a key at a time, in plain scalar code: the algorithm as it is
// meant, for reading and for comparing with. All operands f32 on the host.
void attention_one_pass(Tensor& y, const Tensor& q, const Tensor& k, const Tensor& v);

}  // namespace rung
