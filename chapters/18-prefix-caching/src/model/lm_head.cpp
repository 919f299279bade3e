// Picks the rows, norms them, and multiplies with the output table.
#include "model/lm_head.h"

#include "ops/embedding.h"
#include "ops/matmul.h"
#include "ops/rms_norm.h"

namespace rung {

template <class Device>
void lm_head(Device& device, const Hyperparameters& h, const Weights& weights, Activations& a) {
  embedding(device, a.last, a.residual,
            a.logit_rows);  // picks rows of the stream as it picks rows of a table
  rms_norm(device, a.last_normed, a.last, weights.output_norm, h.rms_epsilon);
  matmul(device, a.logits, a.last_normed, weights.lm_head);
}

template void lm_head(Cpu&, const Hyperparameters&, const Weights&, Activations&);
template void lm_head(Cuda&, const Hyperparameters&, const Weights&, Activations&);

}  // namespace rung
