// Wrong: the tensor is made on the host.
// Expect: ?
  return Tensor::host(dtype, shape);
