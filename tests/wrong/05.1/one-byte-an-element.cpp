// Wrong: room for one byte an element.
// Expect: an allocation of 192 bytes
  std::shared_ptr<void> memory = allocate_device(static_cast<size_t>(shape.elements()));
  void* data = memory.get();
  return Tensor(dtype, shape, data, Place::device, std::move(memory));
