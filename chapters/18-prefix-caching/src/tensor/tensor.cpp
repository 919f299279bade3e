// Views, slices, and the checks that go with them.
#include "tensor/tensor.h"

#include "rung/aligned.h"
#include "rung/error.h"

namespace rung {

Tensor::Tensor(DType dtype, Shape shape, void* data, Place place, std::shared_ptr<const void> owner)
    : dtype_(dtype), place_(place), shape_(shape), data_(data), owner_(std::move(owner)) {
  if (shape_.elements() > 0 && shape_.columns() % static_cast<int64_t>(info(dtype).block_elements) != 0) {
    fail("rows of ", shape_.columns(), " elements cannot be stored as ", name(dtype),
         ", expected a multiple of ", info(dtype).block_elements);
  }
}

Tensor Tensor::host(DType dtype, Shape shape) {
  std::shared_ptr<void> memory = allocate_aligned(row_bytes(dtype, static_cast<size_t>(shape.elements())));
  void* data = memory.get();
  return Tensor(dtype, shape, data, Place::host, std::move(memory));
}

Tensor Tensor::slice(int64_t begin, int64_t count) const {
  if (shape_.dims() == 0 || begin < 0 || count < 0 || begin > shape_[0] - count) {
    fail("rows ", begin, " to ", begin + count, " of a tensor of shape ", shape_.text(), " do not exist");
  }
  int64_t sizes[Shape::kMaxDims];
  for (int i = 0; i < shape_.dims(); ++i) sizes[i] = shape_[i];
  const int64_t row = shape_[0] == 0 ? 0 : elements() / shape_[0];
  sizes[0] = count;
  auto* first = static_cast<unsigned char*>(data_) + row_bytes(dtype_, static_cast<size_t>(begin * row));
  return Tensor(dtype_, Shape(sizes, shape_.dims()), first, place_, owner_);
}

Tensor Tensor::reshaped(Shape shape) const {
  if (shape.elements() != elements())
    fail("a tensor of shape ", shape_.text(), " cannot be seen as ", shape.text());
  return Tensor(dtype_, shape, data_, place_, owner_);
}

void Tensor::check_dtype(DType expected) const {
  if (dtype_ != expected) fail("a tensor's elements are ", name(dtype_), ", expected ", name(expected));
}

void check_shape(const char* what, const Tensor& tensor, const Shape& expected) {
  if (tensor.shape() != expected)
    fail(what, " has shape ", tensor.shape().text(), ", expected ", expected.text());
}

}  // namespace rung
