// The residual addition on the CPU.
#include "ops/add.h"

#include "ops/elementwise_checks.h"
#include "ops/elementwise_cpu.h"

namespace rung {

void add(Cpu& device, Tensor& y, const Tensor& x) {
  check_elementwise("add: an operand", y, {&x}, Place::host);
  float* out = y.data<float>();
  const float* in = x.data<float>();
  for_chunks(device, y.elements(), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) out[i] += in[i];
  });
}

}  // namespace rung
