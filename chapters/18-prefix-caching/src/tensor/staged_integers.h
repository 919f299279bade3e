// Integers on their way to the device: gathered in host memory that is allocated once, sent in one copy.
#pragma once

#include <cstdint>
#include <memory>

#include "rung/device.h"
#include "rung/span.h"
#include "tensor/tensor.h"

namespace rung {

class StagedIntegers {
 public:
  // Space for so many integers between two calls of send().
  StagedIntegers(Cpu& device, int64_t capacity);
  StagedIntegers(Cuda& device, int64_t capacity);

  // Makes space for at least so many. Only between send() and the first add() after it, or at the beginning:
  // tensors from before are void.
  template <class Device>
  void reserve(Device& device, int64_t capacity) {
    if (capacity <= host_.elements()) return;
    wait();
    *this = StagedIntegers(device, capacity + capacity / 2);
  }

  // The values as [values.size()] i32 on the device: there once send() was called, until the first add()
  // after it. Throws Error if they do not fit.
  Tensor add(Span<const int32_t> values);
  void send(Cpu& device);
  void send(Cuda& device);

 private:
  void wait() const;  // until the host's memory has been read

  Tensor host_, device_;  // on Cpu the same memory
  int64_t used_ = 0;
  bool sent_ = false;
  std::shared_ptr<CudaEvent> copied_;  // the host's memory may be written again; null on Cpu
};

}  // namespace rung
