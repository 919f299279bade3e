// Shared memory. The translator turns
//   __shared__ float tile[32][33];      into   auto& tile = simt::static_shared<float[32][33]>([] {},
//   "tile"); extern __shared__ float row[];      into   auto* row = simt::dynamic_shared<float>();
// Each variable is its own heap block for each thread block: red zones around it, filled with a NaN at the
// start.
#pragma once

#include <cstddef>

namespace simt {

/// Shared memory starts as this pattern in every 16 bits: a NaN in half, bfloat16, float and double that
/// nothing else makes.
inline constexpr unsigned short shared_poison = 0xfffb;

/// Storage of the variable `key` in the running block; allocated by the first thread that asks.
void* static_shared_storage(const void* key, std::size_t bytes, const char* name);
/// Dynamic shared memory of the running block.
void* dynamic_shared_storage();

/// `Tag` is a lambda's type: unique for each declaration and each instantiation of the template around it.
template <class T, class Tag>
inline T& static_shared(Tag, const char* name) {
  static const char key = 0;
  return *static_cast<T*>(static_shared_storage(&key, sizeof(T), name));
}

template <class T>
inline T* dynamic_shared() {
  return static_cast<T*>(dynamic_shared_storage());
}

/// `extern __shared__` at namespace scope: finds the running block's memory at each use.
template <class T>
struct DynamicShared {
  operator T*() const { return dynamic_shared<T>(); }
  template <class Index>
  T& operator[](Index i) const {
    return dynamic_shared<T>()[i];
  }
};

}  // namespace simt
