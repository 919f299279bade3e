// Attention over several sequences on CUDA: one kernel for those with several queries, one for those with a
// single one.
#include "ops/sequence_attention.h"

#include "ops/sequence_attention_kernels.h"

namespace rung {

void attention(Cuda& device, Tensor& y, const Tensor& q, const Tensor& k, const Tensor& v,
               const AttentionSequences& sequences) {
  // On the emulator one algorithm serves all, so that a row's result does not depend on its batch.
  if (!kCudaEmulated && !device.batch_invariant && tensor_cores_fit(k)) {
    attention_prefill_tensor_cores(device, y, q, k, v, sequences);
  } else {
    attention_prefill_tiled(device, y, q, k, v, sequences);
  }
  attention_decode_split(device, y, q, k, v, sequences);
}

}  // namespace rung
