// Asynchronous copies into shared memory: groups, the order of waiting, and the zeros behind a short row.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include "device_array.h"
#include "testing/catch.h"

using simt_tests::DeviceArray;

namespace {

constexpr int kTile = 64;

/// Sums of neighbours over tiles of 64 floats, the next tile on its way while one is worked on.
/// Grid: 1 block of 16 threads, four floats a copy; n a multiple of 64.
__global__ void neighbour_sums(const float* in, float* out, int n) {
  __shared__ float tile[2][kTile];
  const int me = static_cast<int>(threadIdx.x);
  const auto fetch = [&](int t) {
    if (t < n / kTile) __pipeline_memcpy_async(&tile[t % 2][4 * me], in + t * kTile + 4 * me, 16);
    __pipeline_commit();
  };
  fetch(0);
  for (int t = 0; t < n / kTile; ++t) {
    fetch(t + 1);
    __pipeline_wait_prior(1);
    __syncthreads();
    for (int i = me; i < kTile; i += 16) out[t * kTile + i] = tile[t % 2][i] + tile[t % 2][(i + 1) % kTile];
    __syncthreads();
  }
}

/// The first `count` elements of `in`, zeros up to four; one thread.
__global__ void padded_row(const int* in, int* out, int count) {
  __shared__ int4 row;
  __pipeline_memcpy_async(&row, in, 16, static_cast<std::size_t>(4 - count) * sizeof(int));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  out[0] = row.x;
  out[1] = row.y;
  out[2] = row.z;
  out[3] = row.w;
}

__global__ void pairs_and_words(const int* in, int* out) {
  __shared__ __align__(8) int copy[3];
  __pipeline_memcpy_async(copy, in, 8);
  __pipeline_memcpy_async(copy + 2, in + 2, 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  for (int i = 0; i < 3; ++i) out[i] = copy[i];
}

}  // namespace

TEST_CASE("tiles come through a pipeline of two stages", "[simt]") {
  const int n = 5 * kTile;
  const std::vector<float> numbers = simt_tests::iota<float>(n);
  DeviceArray<float> in(numbers), out(n);
  neighbour_sums<<<1, 16>>>(in.get(), out.get(), n);
  const std::vector<float> sums = out.values();
  for (int i = 0; i < n; ++i) {
    const int next = i / kTile * kTile + (i + 1) % kTile;
    REQUIRE(sums[static_cast<std::size_t>(i)] ==
            numbers[static_cast<std::size_t>(i)] + numbers[static_cast<std::size_t>(next)]);
  }
}

TEST_CASE("an asynchronous copy fills what it leaves out with zeros", "[simt]") {
  DeviceArray<int> in(std::vector<int>{1, 2, 3, 4}), out(4);
  for (int count = 0; count <= 4; ++count) {
    padded_row<<<1, 1>>>(in.get(), out.get(), count);
    std::vector<int> expected{1, 2, 3, 4};
    for (std::size_t i = static_cast<std::size_t>(count); i < 4; ++i) expected[i] = 0;
    REQUIRE(out.values() == expected);
  }
  pairs_and_words<<<1, 1>>>(in.get(), out.get());
  const std::vector<int> three = out.values();
  REQUIRE(std::vector<int>(three.begin(), three.begin() + 3) == std::vector<int>{1, 2, 3});
}
