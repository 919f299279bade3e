// Warp matrix products (WMMA 16x16x16) against a plain loop.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

#include <cmath>
#include <random>

#include "device_array.h"
#include "testing/catch.h"

using simt_tests::DeviceArray;

namespace {

using namespace nvcuda;

/// One warp: C (16 x 16) = A (16 x k) * B (k x 16) * 2 + 1, B given by columns.
template <class T>
__global__ void product(const T* a, const T* b, float* c, int k) {
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int i = 0; i < k; i += 16) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, T, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, T, wmma::col_major> right;
    wmma::load_matrix_sync(left, a + i, static_cast<unsigned>(k));
    wmma::load_matrix_sync(right, b + i, static_cast<unsigned>(k));
    wmma::mma_sync(sum, left, right, sum);
  }
  for (int i = 0; i < sum.num_elements; ++i) sum.x[i] = sum.x[i] * 2.0f + 1.0f;
  wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}

template <class T>
void check_product(int k) {
  std::mt19937 random(3);
  std::vector<T> a(static_cast<std::size_t>(16 * k)), b(static_cast<std::size_t>(16 * k));
  for (auto* matrix : {&a, &b})
    for (T& v : *matrix) v = static_cast<T>(static_cast<float>(random() % 65) / 32.0f - 1.0f);
  DeviceArray<T> da(a), db(b);
  DeviceArray<float> dc(256);
  product<T><<<1, 32>>>(da.get(), db.get(), dc.get(), k);
  const std::vector<float> c = dc.values();
  for (int row = 0; row < 16; ++row) {
    for (int column = 0; column < 16; ++column) {
      float expected = 0;
      for (int i = 0; i < k; ++i)
        expected += static_cast<float>(a[static_cast<std::size_t>(row * k + i)]) *
                    static_cast<float>(b[static_cast<std::size_t>(column * k + i)]);
      REQUIRE(std::fabs(c[static_cast<std::size_t>(row * 16 + column)] - (expected * 2 + 1)) <= 1e-4f);
    }
  }
}

}  // namespace

TEST_CASE("a warp multiplies tiles of half", "[simt]") {
  check_product<__half>(16);
  check_product<__half>(64);
}

TEST_CASE("a warp multiplies tiles of bfloat16", "[simt]") {
  check_product<__nv_bfloat16>(48);
}
