// The sizes of a tensor's dimensions, outermost first: [rows, columns], with columns contiguous in memory.
// (GGUF writes them the other way round; the reader turns them.)
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

namespace rung {

class Shape {
 public:
  static constexpr int kMaxDims = 4;

  Shape() = default;  // no dimensions: one element
  Shape(std::initializer_list<int64_t> sizes);
  Shape(const int64_t* sizes,
        int dims);  // throws Error unless 0 <= dims <= kMaxDims and every size is at least 0

  int dims() const { return dims_; }
  int64_t operator[](int dim) const { return sizes_[dim]; }
  int64_t elements()
      const;  // precondition: the product fits (readers of files check before they build a Shape)
  int64_t columns() const { return dims_ == 0 ? 1 : sizes_[dims_ - 1]; }  // the innermost size
  int64_t rows() const;                                                   // the product of all others
  std::string text() const;                                               // "[576, 1536]"

  bool operator==(const Shape& other) const;
  bool operator!=(const Shape& other) const { return !(*this == other); }

 private:
  std::array<int64_t, kMaxDims> sizes_{};
  int dims_ = 0;
};

}  // namespace rung
