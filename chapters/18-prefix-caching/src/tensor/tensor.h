// A tensor: where its elements lie, their type and shape. Copying a Tensor copies the reference, not the
// elements; memory that it owns is freed with the last copy, memory of a mapped file is kept alive by it.
#pragma once

#include <memory>

#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace rung {

enum class Place : uint8_t { host, device };

class Tensor {
 public:
  Tensor() = default;  // no elements; data is null

  // Views memory that `owner` keeps alive (null: the caller does). Rows are contiguous.
  Tensor(DType dtype, Shape shape, void* data, Place place = Place::host,
         std::shared_ptr<const void> owner = nullptr);

  // Owns zeroed host memory, aligned to 64 bytes.
  static Tensor host(DType dtype, Shape shape);

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  Place place() const { return place_; }
  bool empty() const { return data_ == nullptr; }
  int64_t elements() const { return shape_.elements(); }
  size_t bytes() const { return row_bytes(dtype_, static_cast<size_t>(elements())); }

  void* raw() const { return data_; }
  // The elements as T (float, int32_t, f16_t, bf16_t). Throws Error if they are stored as something else.
  template <class T>
  T* data() const {
    check_dtype(dtype_of<T>::value);
    return static_cast<T*>(data_);
  }

  // Views rows [begin, begin + count) of the outermost dimension. Throws Error if they are not all there.
  Tensor slice(int64_t begin, int64_t count) const;
  // Views the same elements in another shape with as many of them. Throws Error otherwise.
  Tensor reshaped(Shape shape) const;

 private:
  void check_dtype(DType expected) const;

  DType dtype_ = DType::f32;
  Place place_ = Place::host;
  Shape shape_;
  void* data_ = nullptr;
  std::shared_ptr<const void> owner_;
};

// Throws Error naming `what`, the shape found and the shape expected unless they are the same.
void check_shape(const char* what, const Tensor& tensor, const Shape& expected);

}  // namespace rung
