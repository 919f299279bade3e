// Greedy choice on the device; everything else on the host.
#include "engine/token_choice.h"

#include "ops/argmax.h"
#include "rung/error.h"
#include "tensor/device_tensor.h"

namespace rung {

template <class Device>
TokenChoice choose_token(Device& device, const Tensor& logits, Span<const int32_t> seen,
                         const SamplingParameters& sampling, uint64_t step, bool want_log_probability) {
  if (sampling.temperature == 0 && sampling.repetition_penalty == 1 && !want_log_probability) {
    Tensor id = empty(device, DType::i32, {1});
    argmax(device, id, logits);
    const Tensor chosen = download(device, id);
    if (chosen.data<int32_t>()[0] < 0)
      fail(
          "the model's logits are not numbers: its weights or its arithmetic "
          "are broken");
    return {chosen.data<int32_t>()[0]};
  }
  const Tensor on_host = download(device, logits);
  const Span<const float> row(on_host.data<float>(), static_cast<size_t>(on_host.elements()));
  TokenChoice choice{sample(row, seen, sampling, step)};
  if (want_log_probability) choice.log_probability = log_probability(row, choice.id);
  return choice;
}

template TokenChoice choose_token(Cpu&, const Tensor&, Span<const int32_t>, const SamplingParameters&,
                                  uint64_t, bool);
template TokenChoice choose_token(Cuda&, const Tensor&, Span<const int32_t>, const SamplingParameters&,
                                  uint64_t, bool);

}  // namespace rung
