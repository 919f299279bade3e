// Views of the first rows of every buffer.
#include "model/activations.h"

namespace rung {

Activations first_rows(const Activations& activations, int64_t tokens, int64_t logit_rows) {
  Activations a = activations;
  for (Tensor Activations::*tensor :
       {&Activations::residual, &Activations::normed, &Activations::q, &Activations::k, &Activations::v,
        &Activations::attended, &Activations::gate, &Activations::up, &Activations::block_output}) {
    a.*tensor = (a.*tensor).slice(0, tokens);
  }
  for (Tensor Activations::*tensor : {&Activations::last, &Activations::last_normed, &Activations::logits}) {
    a.*tensor = (a.*tensor).slice(0, logit_rows);
  }
  return a;
}

}  // namespace rung
