// Tensors on the machine that computes: the same calls for Cpu and Cuda, so that code written for either
// reads alike.
#pragma once

#include "rung/device.h"
#include "tensor/tensor.h"

namespace rung {

// Zeroed on Cpu, uninitialised on Cuda.
Tensor empty(Cpu& device, DType dtype, Shape shape);
Tensor empty(Cuda& device, DType dtype, Shape shape);

// A host tensor made usable on the device: on Cpu itself, on Cuda a copy (queued on the stream; `host` may be
// freed on return).
Tensor upload(Cpu& device, const Tensor& host);
Tensor upload(Cuda& device, const Tensor& host);

// The device's tensor on the host, after all work queued before: on Cpu itself, on Cuda a copy.
Tensor download(Cpu& device, const Tensor& tensor);
Tensor download(Cuda& device, const Tensor& tensor);

// Copies elements between two tensors of the same dtype and element count on this device, or from host to
// device.
void copy(Cpu& device, Tensor& destination, const Tensor& source);
void copy(Cuda& device, Tensor& destination, const Tensor& source);

}  // namespace rung
