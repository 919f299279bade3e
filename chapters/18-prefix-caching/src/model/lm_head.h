// From the residual stream to logits, for the rows that somebody wants: with a
// vocabulary of 150,000 this is the largest product of the pass, and all but
// the last token's row would be thrown away.
#pragma once

#include "model/activations.h"
#include "model/weights.h"

namespace rung {

// Reads a.residual at a.logit_rows, writes a.logits [logit rows, vocabulary].
template <class Device>
void lm_head(Device& device, const Hyperparameters& h, const Weights& weights, Activations& a);

}  // namespace rung
