// Every version of the matrix product on CUDA against the CPU.
#include "ops/matmul.h"
#include "ops/matmul_kernels.h"
#include "rung/error.h"
#include "testing/catch.h"
#include "tests/devices.h"
#include "tests/matmul_difference.h"
#include "tests/stored_weights.h"

using namespace rung;
using namespace rung::testing;

namespace {

struct Kernel {
  const char* name;
  void (*run)(Cuda&, Tensor&, const Tensor&, const Tensor&, const Tensor&);
  int64_t most_rows;
  bool rounds_x;  // to the weight's type
};

const Kernel kNaive = {"naive", matmul_naive, 1 << 20, false};
const Kernel kTiled = {"tiled", matmul_tiled, 1 << 20, false};
const Kernel kGemv = {"gemv", matmul_gemv, kGemvRows, false};
const Kernel kCublas = {"cublas", matmul_cublas, 1 << 20, true};

// Runs a kernel into memory filled with NaN and compares with the CPU.
std::string difference(const Kernel& kernel, DType dtype, int64_t rows, int64_t out, int64_t in,
                       bool with_bias) {
  Cuda& cuda = the_device<Cuda>();
  const Tensor weight = random_weight(dtype, out, in, 100 + out), x = random_tensor({rows, in}, 200 + rows);
  const Tensor bias = with_bias ? random_tensor({out}, 3) : Tensor();
  GuardedOutput<Cuda> y(cuda, {rows, out});
  kernel.run(cuda, y.tensor, upload(cuda, x), upload(cuda, weight), with_bias ? upload(cuda, bias) : bias);
  return matmul_difference(y.values(), kernel.rounds_x ? rounded(x, dtype) : x, weight, bias);
}

void check_odd_shapes(const Kernel& kernel) {
  struct Case {
    int64_t rows, out, in;
  };
  const Case cases[] = {{1, 1, 1},   {1, 5, 33},  {2, 15, 17}, {3, 16, 16},   {7, 17, 15},
                        {8, 33, 31}, {17, 7, 64}, {16, 31, 8}, {15, 129, 47}, {33, 3, 127}};
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    for (const Case& c : cases) {
      if (c.rows > kernel.most_rows) continue;
      INFO(kernel.name << ", " << name(dtype) << ", " << c.rows << " rows, weight [" << c.out << ", " << c.in
                       << "]");
      CHECK(difference(kernel, dtype, c.rows, c.out, c.in, c.rows % 2 == 1) == "");
    }
  }
}

}  // namespace

TEST_CASE("the naive matmul kernel agrees with the CPU on odd shapes") {
  check_odd_shapes(kNaive);
}

TEST_CASE("the tiled matmul kernel agrees with the CPU on odd shapes") {
  check_odd_shapes(kTiled);
}

TEST_CASE("the warp-per-row matmul kernel agrees with the CPU on odd shapes") {
  check_odd_shapes(kGemv);
}

TEST_CASE("matmul with cuBLAS agrees with the CPU on odd shapes") {
  check_odd_shapes(kCublas);
}

TEST_CASE("the warp-per-row kernel reads 16 bytes at a time where it may") {
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    for (const int64_t in : {8, 264, 1024}) {
      INFO(name(dtype) << ", " << in << " elements");
      CHECK(difference(kGemv, dtype, 3, 6, in, true) == "");
    }
  }
}

TEST_CASE("a row of the warp-per-row kernel has the same bits for any number of rows") {
  Cuda& cuda = the_device<Cuda>();
  for (const DType dtype : {DType::f32, DType::bf16}) {
    const Tensor weight = upload(cuda, random_weight(dtype, 19, 136, 1)),
                 x = random_tensor({kGemvRows, 136}, 2);
    Tensor alone = Tensor::host(DType::f32, {kGemvRows, 19});
    for (int64_t r = 0; r < kGemvRows; ++r) {
      GuardedOutput<Cuda> y(cuda, {1, 19});
      matmul_gemv(cuda, y.tensor, upload(cuda, x.slice(r, 1)), weight);
      Tensor row = alone.slice(r, 1);
      copy(the_device<Cpu>(), row, y.values());
    }
    for (const int64_t rows : {2, 3, 5, 8}) {
      GuardedOutput<Cuda> y(cuda, {rows, 19});
      matmul_gemv(cuda, y.tensor, upload(cuda, x.slice(0, rows)), weight);
      CHECK(compare_bits(floats(y.values()), floats(alone.slice(0, rows))) == "");
    }
  }
}

TEST_CASE("the warp-per-row kernel refuses more rows than it takes") {
  Cuda& cuda = the_device<Cuda>();
  Tensor y = empty(cuda, DType::f32, {9, 2});
  CHECK_THROWS_WITH(matmul_gemv(cuda, y, empty(cuda, DType::f32, {9, 4}), empty(cuda, DType::f32, {2, 4})),
                    Catch::Contains("at most 8 rows"));
}

TEST_CASE("matmul on CUDA refuses a weight that is still quantized") {
  Cuda& cuda = the_device<Cuda>();
  Tensor y = empty(cuda, DType::f32, {1, 2});
  const Tensor x = empty(cuda, DType::f32, {1, 32}), weight = empty(cuda, DType::q8_0, {2, 32});
  CHECK_THROWS_WITH(matmul(cuda, y, x, weight), Catch::Contains("Q8_0"));
}

TEST_CASE("on the emulator a row of a matmul has the same bits for any number of rows") {
  if (!kCudaEmulated)
    return;  // cuBLAS on a GPU chooses its kernel, and with it the order of summation, by the shape
  Cuda& cuda = the_device<Cuda>();
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    const Tensor weight = upload(cuda, random_weight(dtype, 70, 301, 1)),
                 bias = upload(cuda, random_tensor({70}, 9));
    const Tensor x = random_tensor({33, 301}, 2);
    Tensor alone = Tensor::host(DType::f32, {33, 70});
    for (int64_t r = 0; r < 33; ++r) {
      GuardedOutput<Cuda> y(cuda, {1, 70});
      matmul(cuda, y.tensor, upload(cuda, x.slice(r, 1)), weight, bias);
      Tensor row = alone.slice(r, 1);
      copy(the_device<Cpu>(), row, y.values());
    }
    for (const int64_t rows : {2, 7, 33}) {
      INFO(name(dtype) << ", " << rows << " rows");
      GuardedOutput<Cuda> y(cuda, {rows, 70});
      matmul(cuda, y.tensor, upload(cuda, x.slice(0, rows)), weight, bias);
      CHECK(compare_bits(floats(y.values()), floats(alone.slice(0, rows))) == "");
    }
  }
}
