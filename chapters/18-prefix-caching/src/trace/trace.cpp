#include "trace/trace.h"

#include <cstring>

#include "rung/error.h"
#include "tensor/decode.h"

namespace rung {

Tensor TraceState::get(const std::string& name) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end())
    fail("trace: step ", step, " needs ", quoted(name), ", which no step before it has set");
  return found->second;
}

Tensor TraceState::to_host_f32(const Tensor& tensor) {
  return to_f32(tensor);
}

Tensor TraceState::host_copy(const Tensor& tensor) {
  Tensor copy = Tensor::host(tensor.dtype(), tensor.shape());
  if (tensor.bytes() > 0) std::memcpy(copy.raw(), tensor.raw(), tensor.bytes());
  return copy;
}

}  // namespace rung
