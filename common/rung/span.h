// A view of contiguous elements that somebody else owns: what std::span is from C++20 on.
#pragma once

#include <cstddef>
#include <type_traits>

namespace rung {

template <class T>
class Span {
 public:
  Span() = default;
  Span(T* data, size_t size) : data_(data), size_(size) {}
  template <size_t N>
  Span(T (&array)[N]) : data_(array), size_(N) {}
  template <class Container,
            class = std::enable_if_t<std::is_convertible_v<decltype(std::declval<Container&>().data()), T*>>>
  Span(Container&& container) : data_(container.data()), size_(container.size()) {}

  T* data() const { return data_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](size_t index) const { return data_[index]; }
  T* begin() const { return data_; }
  T* end() const { return data_ + size_; }
  // Precondition: offset + count <= size().
  Span subspan(size_t offset, size_t count) const { return Span(data_ + offset, count); }

 private:
  T* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace rung
