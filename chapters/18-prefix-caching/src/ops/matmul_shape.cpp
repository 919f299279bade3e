#include "ops/matmul_shape.h"

#include "ops/check.h"
#include "rung/error.h"

namespace rung {

MatmulShape check_matmul(const Tensor& y, const Tensor& x, const Tensor& weight, const Tensor& bias,
                         Place place) {
  if (weight.shape().dims() != 2) {
    fail("matmul: weight has shape ", weight.shape().text(), ", expected [out, in]");
  }
  const MatmulShape shape{x.shape().rows(), weight.shape()[0], weight.shape()[1]};
  check_operand("matmul: weight", weight, {shape.out, shape.in}, place);
  check_operand("matmul: x", x, DType::f32, {shape.rows, shape.in}, place);
  check_operand("matmul: y", y, DType::f32, {shape.rows, shape.out}, place);
  if (!bias.empty()) check_operand("matmul: bias", bias, DType::f32, {shape.out}, place);
  return shape;
}

}  // namespace rung
