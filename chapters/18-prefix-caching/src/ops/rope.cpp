// RoPE on the CPU, and the frequencies that both devices turn by.
#include "ops/rope.h"

#include <cmath>
#include <vector>

#include "ops/rope_pair.h"
#include "rung/error.h"

namespace rung {

namespace {

// Llama 3.1's scaling for long contexts, as Hugging Face transformers computes it: wavelengths up to
// original_context_length / high_frequency_factor stay, those above original_context_length /
// low_frequency_factor are stretched by factor, and those between are interpolated.
float llama3_scaled(float frequency, const RopeParameters& rope) {
  // BEGIN SOLUTION 08.3
  const float context = static_cast<float>(rope.original_context_length);
  const float wavelength = static_cast<float>(2 * M_PI) / frequency;
  if (wavelength < context / rope.high_frequency_factor) return frequency;
  if (wavelength > context / rope.low_frequency_factor) return frequency / rope.factor;
  const float smooth = (context / wavelength - rope.low_frequency_factor) /
                       (rope.high_frequency_factor - rope.low_frequency_factor);
  return (1 - smooth) * frequency / rope.factor + smooth * frequency;
  // STUB: (void)frequency;
  // STUB: (void)rope;
  // STUB: not_done("08.3");
  // END SOLUTION
}

void check_parameters(const RopeParameters& rope) {
  if (rope.dims <= 0 || rope.dims % 2 != 0)
    fail("rope: ", rope.dims, " dimensions, expected an even number above 0");
  if (!(rope.base > 0)) fail("rope: base ", rope.base, ", expected above 0");
  const size_t pairs = static_cast<size_t>(rope.dims) / 2;
  if (!rope.frequency_factors.empty() && rope.frequency_factors.size() != pairs) {
    fail("rope: ", rope.frequency_factors.size(), " frequency factors for ", pairs, " pairs");
  }
  if (rope.scaling != RopeScaling::none && rope.frequency_factors.empty() && !(rope.factor > 0)) {
    fail("rope: scaling factor ", rope.factor, ", expected above 0");
  }
  if (rope.scaling == RopeScaling::llama3 && rope.frequency_factors.empty() &&
      !(rope.original_context_length > 0 && rope.low_frequency_factor > 0 &&
        rope.high_frequency_factor > rope.low_frequency_factor)) {
    fail("rope: llama3 scaling from a context of ", rope.original_context_length, " with frequency factors ",
         rope.low_frequency_factor, " and ", rope.high_frequency_factor,
         ", expected 0 < low < high and a context above 0");
  }
}

}  // namespace

Tensor rope_inverse_frequencies(const RopeParameters& rope) {
  check_parameters(rope);
  Tensor result = Tensor::host(DType::f32, {rope.dims / 2});
  float* frequency = result.data<float>();
  for (int i = 0; i < rope.dims / 2; ++i) {
    const float exponent = static_cast<float>(2 * i) / static_cast<float>(rope.dims);
    frequency[i] = 1.0f / std::pow(rope.base, exponent);
    if (!rope.frequency_factors.empty()) {
      frequency[i] /= rope.frequency_factors[static_cast<size_t>(i)];
    } else if (rope.scaling == RopeScaling::linear) {
      frequency[i] /= rope.factor;
    } else if (rope.scaling == RopeScaling::llama3) {
      frequency[i] = llama3_scaled(frequency[i], rope);
    }
  }
  return result;
}

void rope(Cpu& device, Tensor& x, const Tensor& positions, const Tensor& inverse_frequency,
          RopePairing pairing) {
  check_rope(x, positions, inverse_frequency, Place::host);
  const int64_t heads = x.shape()[1], head_dim = x.shape()[2], pairs = inverse_frequency.elements();
  const float* frequency = inverse_frequency.data<float>();
  const int32_t* position = positions.data<int32_t>();
  float* values = x.data<float>();
  device.pool.parallel_for(static_cast<size_t>(x.shape()[0]), [&](size_t token) {
    // BEGIN SOLUTION 08.2
    float* token_values = values + static_cast<int64_t>(token) * heads * head_dim;
    for (int64_t i = 0; i < pairs; ++i) {
      const float angle = static_cast<float>(position[token]) * frequency[i];
      const float c = std::cos(angle), s = std::sin(angle);
      const RopePair pair = rope_pair(pairing, i, pairs);
      for (int64_t head = 0; head < heads; ++head) {
        float* h = token_values + head * head_dim;
        const float a = h[pair.first], b = h[pair.second];
        h[pair.first] = a * c - b * s;
        h[pair.second] = b * c + a * s;
      }
    }
    // STUB: (void)heads, (void)head_dim, (void)pairs, (void)frequency;
    // STUB: (void)position, (void)values, (void)token, (void)pairing;
    // STUB: not_done("08.2");
    // END SOLUTION
  });
}

}  // namespace rung
