#include "ops/attention_shape.h"

#include <cmath>

#include "ops/check.h"
#include "rung/error.h"

namespace rung {

float AttentionShape::scale() const {
  return 1 / std::sqrt(static_cast<float>(head_dim));
}

AttentionShape check_attention(const Tensor& y, const Tensor& q, const Tensor& k, const Tensor& v,
                               Place place) {
  if (q.shape().dims() != 3)
    fail("attention: q has shape ", q.shape().text(), ", expected [tokens, heads, head_dim]");
  if (k.shape().dims() != 3) {
    fail("attention: k has shape ", k.shape().text(), ", expected [context, kv_heads, head_dim]");
  }
  const AttentionShape shape{q.shape()[0], k.shape()[0], q.shape()[1], k.shape()[1], q.shape()[2]};
  check_operand("attention: q", q, DType::f32, q.shape(), place);
  check_operand("attention: y", y, DType::f32, q.shape(), place);
  check_operand("attention: k", k, {shape.context, shape.kv_heads, shape.head_dim}, place);
  check_operand("attention: v", v, k.dtype(), k.shape(), place);
  if (shape.kv_heads == 0 || shape.heads % shape.kv_heads != 0) {
    fail("attention: ", shape.heads, " query heads cannot share ", shape.kv_heads,
         " key/value heads, expected a multiple");
  }
  if (shape.context < shape.tokens) {
    fail("attention: ", shape.tokens, " queries cannot be the last of a context of ", shape.context);
  }
  return shape;
}

}  // namespace rung
