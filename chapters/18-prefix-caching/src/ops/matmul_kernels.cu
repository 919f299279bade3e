// Matrix product kernels: one thread an output, tiles in shared memory, and a warp a row for few rows of x.
#include "ops/matmul_kernels.h"

#include "ops/elements.cuh"
#include "ops/matmul_shape.h"
#include "rung/error.h"
#include "rung/not_done.h"

namespace rung {

namespace {

constexpr int kWarp = 32;

// One thread an element of y: x is the outputs' axis (in blocks of 128), y the rows'. weight [out, in].
template <class Weight>
__global__ void naive_kernel(float* y, const float* x, const Weight* weight, const float* bias, int64_t out,
                             int64_t in) {
  // BEGIN SOLUTION 07.1
  const int64_t o = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x, r = blockIdx.y;
  if (o >= out) return;
  float sum = 0;
  for (int64_t i = 0; i < in; ++i) sum += x[r * in + i] * to_float(weight[o * in + i]);
  y[r * out + o] = bias == nullptr ? sum : sum + bias[o];
  // STUB: RUNG_NOT_DONE("07.1");
  // END SOLUTION
}

// A block of kTile x kTile threads computes as many elements of y: threadIdx.x is the output, threadIdx.y the
// row within the tile. It walks along `in` in pieces of kTile; each thread loads one element of x and one of
// the weight for all.
constexpr int kTile = 16;

template <class Weight>
__global__ void tiled_kernel(float* y, const float* x, const Weight* weight, const float* bias, int64_t rows,
                             int64_t out, int64_t in) {
  // BEGIN SOLUTION 07.2
  __shared__ float x_tile[kTile][kTile];  // [row][i]
  __shared__ float weight_tile[kTile]
                              [kTile + 1];  // [output][i]; the extra column spreads a column over all banks
  const int64_t first_out = static_cast<int64_t>(blockIdx.x) * kTile;
  const int64_t o = first_out + threadIdx.x, r = static_cast<int64_t>(blockIdx.y) * kTile + threadIdx.y;
  const int64_t loaded_out = first_out + threadIdx.y;  // neighbouring threads load neighbouring i
  float sum = 0;
  for (int64_t first = 0; first < in; first += kTile) {
    const int64_t i = first + threadIdx.x;
    x_tile[threadIdx.y][threadIdx.x] = r < rows && i < in ? x[r * in + i] : 0;
    weight_tile[threadIdx.y][threadIdx.x] =
        loaded_out < out && i < in ? to_float(weight[loaded_out * in + i]) : 0;
    __syncthreads();  // the tiles are complete
    for (int k = 0; k < kTile; ++k) sum += x_tile[threadIdx.y][k] * weight_tile[threadIdx.x][k];
    __syncthreads();  // everybody is done with them
  }
  if (r < rows && o < out) y[r * out + o] = bias == nullptr ? sum : sum + bias[o];
  // STUB: RUNG_NOT_DONE("07.2");
  // END SOLUTION
}

// kCount neighbouring elements, read in as few loads as there are multiples of 16 bytes.
template <class Element, int kCount>
struct alignas(sizeof(Element) * kCount < 16 ? sizeof(Element) * kCount : 16) Elements {
  Element value[kCount];
};

// A warp for each row of the weight, kWarpsOfBlock warps a block; all kRows rows of x at once. A lane takes
// kCount neighbouring elements at a time; in is a multiple of kCount, x and weight are aligned to 16 bytes
// unless kCount is 1.
constexpr int kWarpsOfBlock = 4;

template <class Weight, int kCount, int kRows>
__global__ void gemv_kernel(float* y, const float* x, const Weight* weight, const float* bias, int rows,
                            int64_t out, int64_t in) {
  // BEGIN SOLUTION 07.4
  const int64_t o = static_cast<int64_t>(blockIdx.x) * kWarpsOfBlock + threadIdx.x / kWarp;
  if (o >= out) return;  // whole warps leave: the shuffles below find all their lanes
  const int lane = threadIdx.x % kWarp;
  const auto* row = reinterpret_cast<const Elements<Weight, kCount>*>(weight + o * in);
  float sums[kRows] = {};
#pragma unroll 4
  for (int64_t chunk = lane; chunk < in / kCount; chunk += kWarp) {
    const Elements<Weight, kCount> weights = row[chunk];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      if (r >= rows) break;
      const auto inputs = reinterpret_cast<const Elements<float, kCount>*>(x + r * in)[chunk];
#pragma unroll
      for (int k = 0; k < kCount; ++k) {
        sums[r] = fmaf(to_float(weights.value[k]), inputs.value[k], sums[r]);
      }
    }
  }
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    if (r >= rows) break;
    for (int offset = kWarp / 2; offset > 0; offset /= 2) {
      sums[r] += __shfl_xor_sync(0xffffffffu, sums[r], offset);
    }
    if (lane == 0) y[r * out + o] = bias == nullptr ? sums[r] : sums[r] + bias[o];
  }
  // STUB: RUNG_NOT_DONE("07.4");
  // END SOLUTION
}

template <class Weight, int kRows>
void launch_gemv(Cuda& device, float* y, const float* x, const Weight* weight, const float* bias,
                 const MatmulShape& shape) {
  constexpr int kCount = 16 / sizeof(Weight);
  const unsigned blocks = static_cast<unsigned>((shape.out + kWarpsOfBlock - 1) / kWarpsOfBlock);
  const int rows = static_cast<int>(shape.rows);
  const auto aligned = [](const void* data) { return reinterpret_cast<uintptr_t>(data) % 16 == 0; };
  if (shape.in % kCount == 0 && aligned(weight) && aligned(x)) {
    gemv_kernel<Weight, kCount, kRows><<<blocks, kWarpsOfBlock * kWarp, 0, device.stream()>>>(
        y, x, weight, bias, rows, shape.out, shape.in);
  } else {
    gemv_kernel<Weight, 1, kRows><<<blocks, kWarpsOfBlock * kWarp, 0, device.stream()>>>(
        y, x, weight, bias, rows, shape.out, shape.in);
  }
  RUNG_CUDA_CHECK_LAUNCH("matmul_gemv");
}

const float* data_or_null(const Tensor& bias) {
  return bias.empty() ? nullptr : bias.data<float>();
}

}  // namespace

void matmul_naive(Cuda& device, Tensor& y, const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const MatmulShape shape = check_matmul(y, x, weight, bias, Place::device);
  if (y.elements() == 0) return;
  constexpr int kThreads = 128;
  const dim3 grid(static_cast<unsigned>((shape.out + kThreads - 1) / kThreads),
                  static_cast<unsigned>(shape.rows));
  with_elements("matmul: weight", weight, [&](const auto* elements) {
    naive_kernel<<<grid, kThreads, 0, device.stream()>>>(y.data<float>(), x.data<float>(), elements,
                                                         data_or_null(bias), shape.out, shape.in);
  });
  RUNG_CUDA_CHECK_LAUNCH("matmul_naive");
}

void matmul_tiled(Cuda& device, Tensor& y, const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const MatmulShape shape = check_matmul(y, x, weight, bias, Place::device);
  if (y.elements() == 0) return;
  const dim3 grid(static_cast<unsigned>((shape.out + kTile - 1) / kTile),
                  static_cast<unsigned>((shape.rows + kTile - 1) / kTile));
  with_elements("matmul: weight", weight, [&](const auto* elements) {
    tiled_kernel<<<grid, dim3(kTile, kTile), 0, device.stream()>>>(
        y.data<float>(), x.data<float>(), elements, data_or_null(bias), shape.rows, shape.out, shape.in);
  });
  RUNG_CUDA_CHECK_LAUNCH("matmul_tiled");
}

void matmul_gemv(Cuda& device, Tensor& y, const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const MatmulShape shape = check_matmul(y, x, weight, bias, Place::device);
  if (shape.rows > kGemvRows) fail("matmul_gemv takes at most ", kGemvRows, " rows, not ", shape.rows);
  if (y.elements() == 0) return;
  with_elements("matmul: weight", weight, [&](const auto* elements) {
    const auto launch = [&](auto rows) {
      launch_gemv<std::remove_const_t<std::remove_pointer_t<decltype(elements)>>, decltype(rows)::value>(
          device, y.data<float>(), x.data<float>(), elements, data_or_null(bias), shape);
    };
    if (shape.rows == 1) {
      launch(std::integral_constant<int, 1>());
    } else if (shape.rows <= 4) {
      launch(std::integral_constant<int, 4>());
    } else {
      launch(std::integral_constant<int, kGemvRows>());
    }
  });
}

}  // namespace rung
