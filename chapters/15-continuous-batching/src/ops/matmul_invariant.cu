// Products on tensor cores in which a row of y has the same bits whatever other rows there are.
//
// Every element is summed in one order: kPart neighbouring products at a time on tensor cores, sixteen by
// sixteen, and these partial sums one after the other, the first one first. Since blocks of every shape keep
// to it, the shape may follow the number of rows.
#include <cuda_pipeline.h>
#include <mma.h>

#include <algorithm>

#include "ops/matmul_kernels.h"
#include "ops/matmul_shape.h"
#include "ops/round_elements.cuh"
#include "rung/error.h"

namespace rung {

namespace {

namespace wmma = nvcuda::wmma;

constexpr int kWarp = 32;
constexpr int kFragment = 16;  // rows and columns of a fragment
constexpr int kPart = 256;     // products of a partial sum
constexpr int kPiece = 8;      // elements of 16 bytes

// What a block computes: warps along rows, outputs and partial sums, each with a few fragments of y. kStep:
// products whose operands are loaded at once; kStages: steps in shared memory, one in use and the others
// under way.
template <int kRowFragments_, int kOutFragments_, int kRowWarps, int kOutWarps_, int kGroups_, int kStep_,
          int kStages_>
struct BlockShape {
  static constexpr int kRowFragments = kRowFragments_, kOutFragments = kOutFragments_;  // of a warp
  static constexpr int kOutWarps = kOutWarps_;
  static constexpr int kGroups = kGroups_;  // of warps: each has a partial sum of its own
  static constexpr int kStep = kStep_, kStepsOfPart = kPart / kStep, kStages = kStages_;
  static constexpr int kRows = kRowFragments * kRowWarps * kFragment;
  static constexpr int kOut = kOutFragments * kOutWarps * kFragment;
  static constexpr int kGroupThreads = kRowWarps * kOutWarps * kWarp, kThreads = kGroups * kGroupThreads;
  // Pieces of 16 bytes: all those of a thread are in the same place of their rows.
  static constexpr int kPiecesOfRow = kStep / kPiece;
  static constexpr int kPiecesOfThread = (kRows + kOut) * kPiecesOfRow / kGroupThreads;
  static constexpr int kRowsAtOnce = kGroupThreads / kPiecesOfRow;
  static_assert(kPiecesOfThread * kRowsAtOnce == kRows + kOut, "every thread has as much to load");
  static constexpr int kStride =
      kStep + 8;  // elements between rows in shared memory: spreads them over the banks
  static constexpr int kStageElements = (kRows + kOut) * kStride;  // of a group
  static constexpr int kStagesBytes = kStages * kGroups * kStageElements * 2;
  static constexpr int kSumsBytes = kGroups == 1 ? 0 : kGroups * kRows * kOut * 4;
  static constexpr int kBytes = kStagesBytes + kSumsBytes;
};
using FewRows = BlockShape<1, 1, 1, 1, 4, 64, 4>;
using SomeRows = BlockShape<2, 2, 2, 2, 1, 64, 4>;
using ManyRows = BlockShape<4, 2, 2, 4, 1, 64, 2>;

using Sums = wmma::fragment<wmma::accumulator, kFragment, kFragment, kFragment, float>;

// Grid: ceil(out / Block::kOut), ceil(rows / Block::kRows); Block::kThreads threads, Block::kBytes of shared
// memory. y [rows, out], x [rows, in], weight [out, in], bias [out] or null; `in` is a multiple of 8, x and
// weight are aligned to 16 bytes.
template <class Half, class Block>
__global__ void __launch_bounds__(Block::kThreads)
    invariant_kernel(float* y, const Half* x, const Half* weight, const float* bias, int rows, int out,
                     int in) {
  extern __shared__ __align__(128) unsigned char shared[];
  auto* stages = reinterpret_cast<Half*>(shared);
  auto* sums = reinterpret_cast<float*>(shared + Block::kStagesBytes);  // [group][row][output]
  const int group = threadIdx.x / Block::kGroupThreads, thread = threadIdx.x % Block::kGroupThreads;
  const int warp = thread / kWarp, lane = thread % kWarp;
  const int warp_row = warp / Block::kOutWarps * Block::kRowFragments * kFragment;
  const int warp_out = warp % Block::kOutWarps * Block::kOutFragments * kFragment;
  const int first_row = blockIdx.y * Block::kRows, first_out = blockIdx.x * Block::kOut;
  const int parts = (in + kPart - 1) / kPart;
  const int steps = (parts + Block::kGroups - 1) / Block::kGroups * Block::kStepsOfPart;

  const auto stage = [&](int step) {
    return stages + (step % Block::kStages * Block::kGroups + group) * Block::kStageElements;
  };
  // Rows of x, then rows of the weight; null for those that do not exist.
  const int loaded_row = thread / Block::kPiecesOfRow, loaded_k = thread % Block::kPiecesOfRow * kPiece;
  const Half* from[Block::kPiecesOfThread];
#pragma unroll
  for (int i = 0; i < Block::kPiecesOfThread; ++i) {
    const int row = loaded_row + i * Block::kRowsAtOnce, r = first_row + row,
              o = first_out + row - Block::kRows;
    if (row < Block::kRows) {
      from[i] = r < rows ? x + static_cast<int64_t>(r) * in : nullptr;
    } else {
      from[i] = o < out ? weight + static_cast<int64_t>(o) * in : nullptr;
    }
  }
  // Starts to load what the group multiplies in a step; zeros for what does not exist.
  const auto load = [&](int step) {
    if (step < steps) {
      const int part = step / Block::kStepsOfPart * Block::kGroups + group;
      const int k = part * kPart + step % Block::kStepsOfPart * Block::kStep + loaded_k;
      Half* to = stage(step) + loaded_row * Block::kStride + loaded_k;
#pragma unroll
      for (int i = 0; i < Block::kPiecesOfThread; ++i) {
        const bool there = k < in && from[i] != nullptr;
        __pipeline_memcpy_async(to + i * Block::kRowsAtOnce * Block::kStride, there ? from[i] + k : x, 16,
                                there ? 0 : 16);
      }
    }
    __pipeline_commit();  // an empty group too, so that the wait below counts right
  };

  Sums part[Block::kRowFragments][Block::kOutFragments], total[Block::kRowFragments][Block::kOutFragments];
  for (int m = 0; m < Block::kRowFragments; ++m) {
    for (int n = 0; n < Block::kOutFragments; ++n) {
      wmma::fill_fragment(part[m][n], 0.0f);
      wmma::fill_fragment(total[m][n], 0.0f);
    }
  }
  // With several groups: elements of the block's tile of y, thread by thread.
  constexpr int kElements = Block::kGroups == 1 ? 1 : Block::kRows * Block::kOut / Block::kThreads;
  float totals[kElements] = {};

  for (int step = 0; step < Block::kStages - 1; ++step) load(step);
  for (int step = 0; step < steps; ++step) {
    __pipeline_wait_prior(Block::kStages - 2);
    __syncthreads();  // this step has come, and the one before, whose place the next takes, has been used
    load(step + Block::kStages - 1);
    const Half* rows_of_x = stage(step) + warp_row * Block::kStride;
    const Half* rows_of_weight = stage(step) + (Block::kRows + warp_out) * Block::kStride;
#pragma unroll
    for (int k = 0; k < Block::kStep; k += kFragment) {
      wmma::fragment<wmma::matrix_b, kFragment, kFragment, kFragment, Half, wmma::col_major>
          b[Block::kOutFragments];
      for (int n = 0; n < Block::kOutFragments; ++n)
        wmma::load_matrix_sync(b[n], rows_of_weight + n * kFragment * Block::kStride + k, Block::kStride);
      for (int m = 0; m < Block::kRowFragments; ++m) {
        wmma::fragment<wmma::matrix_a, kFragment, kFragment, kFragment, Half, wmma::row_major> a;
        wmma::load_matrix_sync(a, rows_of_x + m * kFragment * Block::kStride + k, Block::kStride);
        for (int n = 0; n < Block::kOutFragments; ++n) wmma::mma_sync(part[m][n], a, b[n], part[m][n]);
      }
    }
    if (step % Block::kStepsOfPart < Block::kStepsOfPart - 1) continue;
    for (int m = 0; m < Block::kRowFragments; ++m) {
      for (int n = 0; n < Block::kOutFragments; ++n) {
        if (Block::kGroups == 1) {
          for (int e = 0; e < Sums::num_elements; ++e) total[m][n].x[e] += part[m][n].x[e];
        } else {
          wmma::store_matrix_sync(sums + (group * Block::kRows + warp_row + m * kFragment) * Block::kOut +
                                      warp_out + n * kFragment,
                                  part[m][n], Block::kOut, wmma::mem_row_major);
        }
        wmma::fill_fragment(part[m][n], 0.0f);
      }
    }
    if (Block::kGroups > 1) {
      __syncthreads();  // the groups' partial sums are there
      for (int e = 0; e < kElements; ++e) {
        for (int g = 0; g < Block::kGroups; ++g)
          totals[e] += sums[g * Block::kRows * Block::kOut + e * Block::kThreads + threadIdx.x];
      }
    }
  }

  const auto write = [&](int row, int o, float sum) {
    if (row < rows && o < out) y[static_cast<int64_t>(row) * out + o] = bias == nullptr ? sum : sum + bias[o];
  };
  if (Block::kGroups > 1) {
    for (int e = 0; e < kElements; ++e) {
      const int i = e * Block::kThreads + threadIdx.x;
      write(first_row + i / Block::kOut, first_out + i % Block::kOut, totals[e]);
    }
    return;
  }
  // Which lane holds which element is the hardware's secret, so by way of shared memory: of the first stage,
  // since the last step is in another one.
  static_assert(Block::kGroups > 1 ||
                    (Block::kStages > 1 && Block::kStepsOfPart % Block::kStages == 0 &&
                     Block::kThreads / kWarp * kFragment * kFragment * 4 <= Block::kStageElements * 2),
                "the first stage is free, and large enough");
  float* tile = reinterpret_cast<float*>(shared) + warp * kFragment * kFragment;
  for (int m = 0; m < Block::kRowFragments; ++m) {
    for (int n = 0; n < Block::kOutFragments; ++n) {
      wmma::store_matrix_sync(tile, total[m][n], kFragment, wmma::mem_row_major);
      __syncwarp();
      for (int i = lane; i < kFragment * kFragment; i += kWarp) {
        write(first_row + warp_row + m * kFragment + i / kFragment,
              first_out + warp_out + n * kFragment + i % kFragment, tile[i]);
      }
      __syncwarp();
    }
  }
}

template <class Block, class Half>
void launch(Cuda& device, float* y, const Half* x, const Half* weight, const float* bias,
            const MatmulShape& shape) {
  RUNG_CUDA_CHECK(cudaFuncSetAttribute(invariant_kernel<Half, Block>,
                                       cudaFuncAttributeMaxDynamicSharedMemorySize, Block::kBytes));
  const dim3 grid(static_cast<unsigned>((shape.out + Block::kOut - 1) / Block::kOut),
                  static_cast<unsigned>((shape.rows + Block::kRows - 1) / Block::kRows));
  invariant_kernel<Half, Block><<<grid, Block::kThreads, Block::kBytes, device.stream()>>>(
      y, x, weight, bias, static_cast<int>(shape.rows), static_cast<int>(shape.out),
      static_cast<int>(shape.in));
  RUNG_CUDA_CHECK_LAUNCH("matmul_invariant");
}

template <class Half>
void on_tensor_cores(Cuda& device, float* y, const Tensor& x, const Half* weight, const float* bias,
                     const MatmulShape& shape) {
  auto* rounded = static_cast<Half*>(device.workspace(static_cast<size_t>(x.elements()) * sizeof(Half)));
  round_elements(device, rounded, x.data<float>(), x.elements());
  if (shape.rows <= FewRows::kRows) return launch<FewRows>(device, y, rounded, weight, bias, shape);
  if (shape.rows <= SomeRows::kRows) return launch<SomeRows>(device, y, rounded, weight, bias, shape);
  launch<ManyRows>(device, y, rounded, weight, bias, shape);
}

// A few rows at a time by the warp-per-row kernel, which sums each of them in one order.
void by_warps(Cuda& device, Tensor& y, const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const int64_t rows = x.shape().rows();
  for (int64_t first = 0; first < rows; first += kGemvRows) {
    const int64_t count = std::min<int64_t>(kGemvRows, rows - first);
    Tensor part = y.slice(first, count);
    matmul_gemv(device, part, x.slice(first, count), weight, bias);
  }
}

}  // namespace

void matmul_invariant(Cuda& device, Tensor& y, const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const MatmulShape shape = check_matmul(y, x, weight, bias, Place::device);
  if (y.elements() == 0) return;
  const bool aligned = reinterpret_cast<uintptr_t>(weight.raw()) % 16 == 0;
  const float* bias_data = bias.empty() ? nullptr : bias.data<float>();
  if (weight.dtype() == DType::f32 || shape.in % kPiece != 0 || shape.in == 0 || !aligned) {
    by_warps(device, y, x, weight, bias);
  } else {
    with_elements("matmul: weight", weight, [&](const auto* elements) {
      using Element = std::remove_const_t<std::remove_pointer_t<decltype(elements)>>;
      if constexpr (sizeof(Element) == 2)
        on_tensor_cores(device, y.data<float>(), x, elements, bias_data, shape);
    });
  }
}

}  // namespace rung
