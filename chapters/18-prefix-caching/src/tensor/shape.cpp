// Sizes and their products.
#include "tensor/shape.h"

#include <algorithm>

#include "rung/error.h"

namespace rung {

Shape::Shape(std::initializer_list<int64_t> sizes) : Shape(sizes.begin(), static_cast<int>(sizes.size())) {}

Shape::Shape(const int64_t* sizes, int dims) : dims_(dims) {
  if (dims < 0 || dims > kMaxDims) fail("a tensor has 0 to ", kMaxDims, " dimensions, not ", dims);
  for (int i = 0; i < dims; ++i) {
    if (sizes[i] < 0) fail("dimension ", i, " of a tensor is ", sizes[i], ", expected at least 0");
    sizes_[i] = sizes[i];
  }
}

int64_t Shape::elements() const {
  int64_t count = 1;
  for (int i = 0; i < dims_; ++i) count *= sizes_[i];
  return count;
}

int64_t Shape::rows() const {
  int64_t count = 1;
  for (int i = 0; i + 1 < dims_; ++i) count *= sizes_[i];
  return count;
}

std::string Shape::text() const {
  std::string text = "[";
  for (int i = 0; i < dims_; ++i) text += (i > 0 ? ", " : "") + std::to_string(sizes_[i]);
  return text + "]";
}

bool Shape::operator==(const Shape& other) const {
  return dims_ == other.dims_ && std::equal(sizes_.begin(), sizes_.begin() + dims_, other.sizes_.begin());
}

}  // namespace rung
