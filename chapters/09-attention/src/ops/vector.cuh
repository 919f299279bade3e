// Neighbouring elements as one value, which one instruction loads or stores.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace rung {

// Aligned to its size: 2, 4, 8 or 16 bytes.
template <class Element, int kCount>
struct alignas(sizeof(Element) * kCount) Vector {
  Element elements[kCount];
};

template <int kCount, class Element>
__device__ Vector<Element, kCount> load_vector(const Element* from) {
  return *reinterpret_cast<const Vector<Element, kCount>*>(from);
}

template <int kCount, class Element>
__device__ void store_vector(Element* to, const Vector<Element, kCount>& vector) {
  *reinterpret_cast<Vector<Element, kCount>*>(to) = vector;
}

// Whether vectors of kCount elements may begin there.
template <int kCount, class Element>
bool is_aligned(const Element* pointer) {
  return reinterpret_cast<uintptr_t>(pointer) % sizeof(Vector<Element, kCount>) == 0;
}

}  // namespace rung
