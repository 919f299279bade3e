// Wrong: source and destination are exchanged.
// Expect: first difference at index 0
  const cudaMemcpyKind kind =
      source.place() == Place::device ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice;
  RUNG_CUDA_CHECK(cudaMemcpyAsync(const_cast<void*>(static_cast<const void*>(source.raw())), destination.raw(), source.bytes(), kind, device.stream()));
  // The caller may free or overwrite host memory as soon as this returns.
  if (source.place() == Place::host) device.synchronize();
