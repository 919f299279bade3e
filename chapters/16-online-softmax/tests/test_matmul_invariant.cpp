// The matrix product that is the same in any company: against the CPU, and each row's bits in blocks of every
// shape.
#include "ops/matmul.h"
#include "ops/matmul_kernels.h"
#include "testing/catch.h"
#include "tests/devices.h"
#include "tests/matmul_difference.h"
#include "tests/stored_weights.h"

using namespace rung;
using namespace rung::testing;

namespace {

// The product of rows [first, first + rows) of x.
Tensor product(const Tensor& x, int64_t first, int64_t rows, const Tensor& weight, const Tensor& bias) {
  Cuda& cuda = the_device<Cuda>();
  GuardedOutput<Cuda> y(cuda, {rows, weight.shape()[0]});
  matmul_invariant(cuda, y.tensor, upload(cuda, x.slice(first, rows)), weight, bias);
  return y.values();
}

struct Case {
  int64_t rows, out, in;
};

}  // namespace

TEST_CASE("the invariant matmul agrees with the CPU on odd shapes") {
  Cuda& cuda = the_device<Cuda>();
  // Blocks of few, some and many rows; one partial sum, several, and more than the groups of a block.
  for (const Case& c : {Case{1, 1, 8}, Case{16, 17, 256}, Case{5, 33, 2312}, Case{17, 15, 264},
                        Case{64, 16, 1288}, Case{65, 129, 40}, Case{130, 20, 520}}) {
    for (const DType dtype : {DType::f16, DType::bf16}) {
      INFO(name(dtype) << ", " << c.rows << " rows, weight [" << c.out << ", " << c.in << "]");
      const Tensor weight = random_weight(dtype, c.out, c.in, 1), x = random_tensor({c.rows, c.in}, 2),
                   bias = c.rows % 2 == 1 ? random_tensor({c.out}, 3) : Tensor();
      const Tensor got =
          product(x, 0, c.rows, upload(cuda, weight), bias.empty() ? bias : upload(cuda, bias));
      CHECK(matmul_difference(got, rounded(x, dtype), weight, bias) == "");
    }
  }
}

TEST_CASE("a row of the invariant matmul has the same bits for any number of rows") {
  Cuda& cuda = the_device<Cuda>();
  // The last two are for the kernel of few rows: no tensor cores for float32 and for odd lengths.
  for (const auto& [dtype, in] : {std::pair{DType::f16, 520}, std::pair{DType::bf16, 2312},
                                  std::pair{DType::f32, 72}, std::pair{DType::bf16, 67}}) {
    constexpr int64_t kRows = 130, kOut = 21;
    const Tensor weight = upload(cuda, random_weight(dtype, kOut, in, 1)), x = random_tensor({kRows, in}, 2),
                 bias = upload(cuda, random_tensor({kOut}, 3));
    const Tensor together = product(x, 0, kRows, weight, bias);
    for (const int64_t rows : {1, 2, 15, 16, 17, 63, 64, 65}) {
      INFO(name(dtype) << ", " << in << " elements, " << rows << " rows");
      const int64_t first = kRows - rows;
      CHECK(compare_bits(floats(product(x, first, rows, weight, bias)),
                         floats(together.slice(first, rows))) == "");
    }
  }
}
