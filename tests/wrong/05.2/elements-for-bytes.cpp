// Wrong: the number of elements is copied instead of the number of bytes.
// Expect: first difference at index 0
  const cudaMemcpyKind kind =
      source.place() == Place::device ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice;
  RUNG_CUDA_CHECK(cudaMemcpyAsync(destination.raw(), source.raw(), static_cast<size_t>(source.elements()), kind, device.stream()));
  // The caller may free or overwrite host memory as soon as this returns.
  if (source.place() == Place::host) device.synchronize();
