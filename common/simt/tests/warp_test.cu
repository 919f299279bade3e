// Warp collectives: shuffles of every kind and type, votes, matches, reductions, partial masks.
#include <cooperative_groups.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "device_array.h"
#include "testing/catch.h"

using simt_tests::DeviceArray;

namespace {

constexpr unsigned all = 0xffffffffu;

template <class T>
__global__ void shuffles(T* out, int width) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const T mine = static_cast<T>(lane + 100);
  T* row = out + threadIdx.x * 4;
  row[0] = __shfl_sync(all, mine, 5, width);
  row[1] = __shfl_up_sync(all, mine, 3, width);
  row[2] = __shfl_down_sync(all, mine, 3, width);
  row[3] = __shfl_xor_sync(all, mine, 6, width);
}

template <class T>
void check_shuffles() {
  for (int width : {32, 16, 8}) {
    DeviceArray<T> out(64 * 4);
    shuffles<T><<<1, 64>>>(out.get(), width);
    const std::vector<T> values = out.values();
    for (int t = 0; t < 64; ++t) {
      const int lane = t % 32, start = lane / width * width, end = start + width;
      const int up = lane - 3 < start ? lane : lane - 3;
      const int down = lane + 3 >= end ? lane : lane + 3;
      const int expected[4] = {start + 5 % width, up, down, lane ^ 6};
      for (int i = 0; i < 4; ++i)
        REQUIRE(static_cast<int>(static_cast<float>(values[static_cast<std::size_t>(t * 4 + i)])) ==
                expected[i] + 100);
    }
  }
}

template <class T>
__global__ void half_shuffle(float* out) {
  const T mine = static_cast<T>(static_cast<float>(threadIdx.x) * 0.5f);
  out[threadIdx.x] = static_cast<float>(__shfl_xor_sync(all, mine, 1));
}

__global__ void divergent_halves(int* out) {
  const int lane = static_cast<int>(threadIdx.x);
  int sum = lane;
  if (lane < 16) {
    for (int d = 8; d > 0; d /= 2) sum += __shfl_xor_sync(0x0000ffffu, sum, d);
  } else {
    for (int d = 8; d > 0; d /= 2) sum += __shfl_xor_sync(0xffff0000u, sum, d);
    __syncwarp(0xffff0000u);
  }
  __syncwarp();
  out[lane] = sum;
}

__global__ void votes(unsigned* out) {
  const unsigned lane = threadIdx.x % 32;
  unsigned* row = out + threadIdx.x * 8;
  row[0] = __ballot_sync(all, lane % 2 == 0);
  row[1] = static_cast<unsigned>(__any_sync(all, lane == 31));
  row[2] = static_cast<unsigned>(__any_sync(all, lane == 32));
  row[3] = static_cast<unsigned>(__all_sync(all, lane < 32));
  row[4] = static_cast<unsigned>(__all_sync(all, lane < 31));
  row[5] = __match_any_sync(all, static_cast<int>(lane / 8));
  int same = 0;
  row[6] = __match_all_sync(all, 3, &same) + static_cast<unsigned>(same);
  row[7] = __match_all_sync(all, static_cast<int>(lane), &same) + static_cast<unsigned>(same);
}

__global__ void reductions(int* out) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  int* row = out + threadIdx.x * 6;
  row[0] = __reduce_add_sync(all, lane - 16);
  row[1] = __reduce_min_sync(all, lane - 16);
  row[2] = __reduce_max_sync(all, lane - 16);
  row[3] = static_cast<int>(__reduce_or_sync(all, 1u << (lane % 4)));
  row[4] = static_cast<int>(__reduce_and_sync(all, 0xf0u | static_cast<unsigned>(lane)));
  row[5] = static_cast<int>(__reduce_max_sync(all, static_cast<unsigned>(lane)));
}

__global__ void tiles(float* out) {
  namespace cg = cooperative_groups;
  const cg::thread_block block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<8>(block);
  float sum = static_cast<float>(block.thread_rank());
  for (unsigned d = tile.size() / 2; d > 0; d /= 2) sum += tile.shfl_down(sum, d);
  sum = tile.shfl(sum, 0);
  block.sync();
  out[threadIdx.x] = sum;
}

}  // namespace

TEST_CASE("shuffles move 32- and 64-bit values within segments of any width", "[simt]") {
  check_shuffles<int>();
  check_shuffles<float>();
  check_shuffles<double>();
  check_shuffles<unsigned long long>();
}

TEST_CASE("shuffles move half and bfloat16", "[simt]") {
  DeviceArray<float> out(32);
  half_shuffle<__half><<<1, 32>>>(out.get());
  for (int i = 0; i < 32; ++i)
    REQUIRE(out.values()[static_cast<std::size_t>(i)] == 0.5f * static_cast<float>(i ^ 1));
  half_shuffle<__nv_bfloat16><<<1, 32>>>(out.get());
  for (int i = 0; i < 32; ++i)
    REQUIRE(out.values()[static_cast<std::size_t>(i)] == 0.5f * static_cast<float>(i ^ 1));
}

TEST_CASE("halves of a warp shuffle apart and meet again", "[simt]") {
  DeviceArray<int> out(32);
  divergent_halves<<<1, 32>>>(out.get());
  for (int i = 0; i < 32; ++i) REQUIRE(out.values()[static_cast<std::size_t>(i)] == (i < 16 ? 120 : 376));
}

TEST_CASE("votes and matches see every lane of the mask", "[simt]") {
  DeviceArray<unsigned> out(64 * 8);
  votes<<<1, 64>>>(out.get());
  const std::vector<unsigned> values = out.values();
  for (unsigned t = 0; t < 64; ++t) {
    const std::vector<unsigned> row(values.begin() + t * 8, values.begin() + t * 8 + 8);
    REQUIRE(row ==
            std::vector<unsigned>{0x55555555u, 1, 0, 1, 0, 0xffu << (t % 32 / 8 * 8), 0xffffffffu + 1u, 0});
  }
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
TEST_CASE("warp reductions", "[simt]") {
  DeviceArray<int> out(32 * 6);
  reductions<<<1, 32>>>(out.get());
  const std::vector<int> values = out.values();
  for (int t = 0; t < 32; ++t) {
    const std::vector<int> row(values.begin() + t * 6, values.begin() + t * 6 + 6);
    REQUIRE(row == std::vector<int>{-16, -16, 15, 15, 0xf0, 31});
  }
}
#endif

TEST_CASE("tiles of a cooperative group sum among themselves", "[simt]") {
  DeviceArray<float> out(64);
  tiles<<<1, 64>>>(out.get());
  for (int i = 0; i < 64; ++i)
    REQUIRE(out.values()[static_cast<std::size_t>(i)] == static_cast<float>(64 * (i / 8) + 28));
}
