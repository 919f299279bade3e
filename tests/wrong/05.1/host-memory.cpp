// Wrong: the tensor is made on the host.
// Expect: there.place() == Place::device
  return Tensor::host(dtype, shape);
