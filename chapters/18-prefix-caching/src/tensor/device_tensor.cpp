// Device memory behind a Tensor, and copies between host and device.
#include "tensor/device_tensor.h"

#include <cstring>

#include "rung/error.h"

namespace rung {

namespace {

void check_copy(const Tensor& destination, const Tensor& source) {
  if (destination.dtype() != source.dtype() || destination.elements() != source.elements()) {
    fail("cannot copy ", source.shape().text(), " of ", name(source.dtype()), " to ",
         destination.shape().text(), " of ", name(destination.dtype()));
  }
}

}  // namespace

Tensor empty(Cpu&, DType dtype, Shape shape) {
  return Tensor::host(dtype, shape);
}

Tensor empty(Cuda&, DType dtype, Shape shape) {
  // BEGIN SOLUTION 05.1
  std::shared_ptr<void> memory = allocate_device(row_bytes(dtype, static_cast<size_t>(shape.elements())));
  void* data = memory.get();
  return Tensor(dtype, shape, data, Place::device, std::move(memory));
  // STUB: (void)dtype, (void)shape;
  // STUB: not_done("05.1");
  // END SOLUTION
}

Tensor upload(Cpu&, const Tensor& host) {
  return host;
}

Tensor upload(Cuda& device, const Tensor& host) {
  Tensor tensor = empty(device, host.dtype(), host.shape());
  copy(device, tensor, host);
  return tensor;
}

Tensor download(Cpu&, const Tensor& tensor) {
  return tensor;
}

Tensor download(Cuda& device, const Tensor& tensor) {
  Tensor host = Tensor::host(tensor.dtype(), tensor.shape());
  if (tensor.bytes() > 0) {
    RUNG_CUDA_CHECK(
        cudaMemcpyAsync(host.raw(), tensor.raw(), tensor.bytes(), cudaMemcpyDeviceToHost, device.stream()));
  }
  device.synchronize();
  return host;
}

void copy(Cpu&, Tensor& destination, const Tensor& source) {
  check_copy(destination, source);
  if (source.bytes() > 0) std::memmove(destination.raw(), source.raw(), source.bytes());
}

void copy(Cuda& device, Tensor& destination, const Tensor& source) {
  check_copy(destination, source);
  if (source.bytes() == 0) return;
  if (destination.place() != Place::device)
    fail("copy: the destination lies on the host, expected on the device");
  // BEGIN SOLUTION 05.2
  const cudaMemcpyKind kind =
      source.place() == Place::device ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice;
  RUNG_CUDA_CHECK(cudaMemcpyAsync(destination.raw(), source.raw(), source.bytes(), kind, device.stream()));
  // The caller may free or overwrite host memory as soon as this returns.
  if (source.place() == Place::host) device.synchronize();
  // STUB: (void)device;
  // STUB: not_done("05.2");
  // END SOLUTION
}

}  // namespace rung
