// Operations under test on either device: one device of each kind for the whole run, outputs between guard
// zones.
#pragma once

#include <limits>
#include <type_traits>
#include <vector>

#include "rung/device.h"
#include "rung/span.h"
#include "tensor/device_tensor.h"
#include "testing/catch.h"
#include "testing/compare.h"
#include "testing/data.h"
#include "tests/reference.h"

namespace rung::testing {

template <class Device>
Device& the_device() {
  static Device device;
  return device;
}

inline Span<const float> floats(const Tensor& host) {
  return {host.data<float>(), static_cast<size_t>(host.elements())};
}

// A float32 tensor on the device filled with NaN, between guard zones: what an operation forgets shows as
// NaN, what it writes outside is seen by values().
template <class Device>
class GuardedOutput {
 public:
  GuardedOutput(Device& device, const Shape& shape) : device_(device), shape_(shape) {
    Tensor host = Tensor::host(DType::f32, {shape.elements() + 2 * kGuard});
    for (int64_t i = 0; i < host.elements(); ++i) host.data<float>()[i] = kGuardValue;
    for (int64_t i = 0; i < shape.elements(); ++i) {
      host.data<float>()[kGuard + i] = std::numeric_limits<float>::quiet_NaN();
    }
    all_ = upload(device, host);
    tensor = all_.slice(kGuard, shape.elements()).reshaped(shape);
  }

  // The elements on the host. Fails the test if a guard was overwritten.
  Tensor values() const {
    const Tensor host = download(device_, all_);
    bool intact = true;
    for (int64_t i = 0; i < kGuard; ++i) {
      intact = intact && host.data<float>()[i] == kGuardValue &&
               host.data<float>()[host.elements() - 1 - i] == kGuardValue;
    }
    INFO("elements before or after the output of shape " << shape_.text());
    REQUIRE(intact);
    return host.slice(kGuard, shape_.elements()).reshaped(shape_);
  }

  Tensor tensor;

 private:
  static constexpr int64_t kGuard = 1024;  // more than a block of threads
  static constexpr float kGuardValue = -1.25e30f;
  Device& device_;
  Shape shape_;
  Tensor all_;
};

// Seeded data with outliers, as testing/data.h makes it.
inline Tensor random_tensor(const Shape& shape, uint64_t seed, float scale = 1.0f) {
  return tensor_of(random_floats(static_cast<size_t>(shape.elements()), seed, scale), shape);
}

}  // namespace rung::testing
