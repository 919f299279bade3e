// Tensor-core products of one warp (nvcuda::wmma) on half and bfloat16 with float sums. Which lane holds
// which element is not specified by CUDA; here element e of lane l is number l + 32 e of the row-major tile.
#pragma once

#include <cstdint>

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_runtime.h"

namespace simt {
/// An error of the launch unless `pointer` is a multiple of 32 bytes and `ld_bytes` one of 16.
void check_matrix_alignment(const char* name, const void* pointer, std::size_t ld_bytes, const char* file,
                            int line);
}  // namespace simt

namespace nvcuda {
namespace wmma {

struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct row_major {};
struct col_major {};
enum layout_t { mem_row_major, mem_col_major };

template <class Use, int m, int n, int k>
struct tile_shape;
template <int m, int n, int k>
struct tile_shape<matrix_a, m, n, k> {
  static constexpr int rows = m, columns = k;
};
template <int m, int n, int k>
struct tile_shape<matrix_b, m, n, k> {
  static constexpr int rows = k, columns = n;
};
template <int m, int n, int k>
struct tile_shape<accumulator, m, n, k> {
  static constexpr int rows = m, columns = n;
};

template <class Use, int m, int n, int k, class T, class Layout = void>
class fragment {
 public:
  static_assert((m == 16 && n == 16) || (m == 32 && n == 8) || (m == 8 && n == 32),
                "16x16, 32x8 or 8x32 tiles");
  static_assert(k == 16, "16 products deep");
  using element_type = T;
  static constexpr int rows = tile_shape<Use, m, n, k>::rows;
  static constexpr int columns = tile_shape<Use, m, n, k>::columns;
  static constexpr int num_elements = rows * columns / 32;
  static constexpr int num_storage_elements = num_elements;
  T x[num_elements];
};

namespace detail {

template <class Fragment, class T>
void load(Fragment& f, const T* p, unsigned ld, bool by_rows) {
  for (int e = 0; e < Fragment::num_elements; ++e) {
    const int index = simt::lane() + 32 * e;
    const unsigned row = static_cast<unsigned>(index / Fragment::columns);
    const unsigned column = static_cast<unsigned>(index % Fragment::columns);
    f.x[e] = by_rows ? p[row * static_cast<std::size_t>(ld) + column]
                     : p[row + column * static_cast<std::size_t>(ld)];
  }
}

struct Operands {
  const void* a;
  const void* b;
  const void* c;
  void* d;
};

template <class A, class B, class C, class D>
void multiply(void* const arguments[32]) {
  constexpr int m = A::rows, n = B::columns, k = A::columns;
  float a[m][k], b[k][n];
  for (int lane = 0; lane < 32; ++lane) {
    const Operands& o = *static_cast<const Operands*>(arguments[lane]);
    for (int e = 0; e < A::num_elements; ++e)
      a[(lane + 32 * e) / k][(lane + 32 * e) % k] = static_cast<float>(static_cast<const A*>(o.a)->x[e]);
    for (int e = 0; e < B::num_elements; ++e)
      b[(lane + 32 * e) / n][(lane + 32 * e) % n] = static_cast<float>(static_cast<const B*>(o.b)->x[e]);
  }
  for (int lane = 0; lane < 32; ++lane) {
    const Operands& o = *static_cast<const Operands*>(arguments[lane]);
    for (int e = 0; e < D::num_elements; ++e) {
      const int row = (lane + 32 * e) / n, column = (lane + 32 * e) % n;
      float sum = static_cast<float>(static_cast<const C*>(o.c)->x[e]);
      for (int i = 0; i < k; ++i) sum += a[row][i] * b[i][column];
      static_cast<D*>(o.d)->x[e] = static_cast<typename D::element_type>(sum);
    }
  }
}

inline void all_lanes(const char* name, const char* file, int line) {
  simt::warp_collective(simt::WarpOp::call, name, 0xffffffffu, 0, 0, nullptr, file, line);
}

}  // namespace detail

template <class Use, int m, int n, int k, class T, class Layout>
void load_matrix_sync(fragment<Use, m, n, k, T, Layout>& f, const T* p, unsigned ld,
                      const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  detail::all_lanes("load_matrix_sync", file, line);
  simt::check_matrix_alignment("load_matrix_sync", p, ld * sizeof(T), file, line);
  detail::load(f, p, ld, std::is_same<Layout, row_major>::value);
}
template <int m, int n, int k, class T>
void load_matrix_sync(fragment<accumulator, m, n, k, T>& f, const T* p, unsigned ld, layout_t layout,
                      const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  detail::all_lanes("load_matrix_sync", file, line);
  simt::check_matrix_alignment("load_matrix_sync", p, ld * sizeof(T), file, line);
  detail::load(f, p, ld, layout == mem_row_major);
}
template <int m, int n, int k, class T>
void store_matrix_sync(T* p, const fragment<accumulator, m, n, k, T>& f, unsigned ld, layout_t layout,
                       const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  detail::all_lanes("store_matrix_sync", file, line);
  simt::check_matrix_alignment("store_matrix_sync", p, ld * sizeof(T), file, line);
  using Fragment = fragment<accumulator, m, n, k, T>;
  for (int e = 0; e < Fragment::num_elements; ++e) {
    const int index = simt::lane() + 32 * e;
    const std::size_t row = static_cast<std::size_t>(index / Fragment::columns);
    const std::size_t column = static_cast<std::size_t>(index % Fragment::columns);
    (layout == mem_row_major ? p[row * ld + column] : p[row + column * ld]) = f.x[e];
  }
}
template <class Use, int m, int n, int k, class T, class Layout>
void fill_fragment(fragment<Use, m, n, k, T, Layout>& f, T value) {
  for (T& x : f.x) x = value;
}

/// d = a * b + c.
template <int m, int n, int k, class T, class LayoutA, class LayoutB, class D, class C>
void mma_sync(fragment<accumulator, m, n, k, D>& d, const fragment<matrix_a, m, n, k, T, LayoutA>& a,
              const fragment<matrix_b, m, n, k, T, LayoutB>& b, const fragment<accumulator, m, n, k, C>& c,
              const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  using A = fragment<matrix_a, m, n, k, T, LayoutA>;
  using B = fragment<matrix_b, m, n, k, T, LayoutB>;
  detail::Operands operands{&a, &b, &c, &d};
  simt::warp_collective(
      simt::WarpOp::call, "mma_sync", 0xffffffffu, reinterpret_cast<std::uintptr_t>(&operands), 0,
      &detail::multiply<A, B, fragment<accumulator, m, n, k, C>, fragment<accumulator, m, n, k, D>>, file,
      line);
}

}  // namespace wmma
}  // namespace nvcuda
