// What store_kv() checks before it writes.
#pragma once

#include "ops/check.h"
#include "rung/error.h"

namespace rung {

inline void check_store_kv(const Tensor& keys, const Tensor& values, const Tensor& k, const Tensor& v,
                           const Tensor& slot_mapping, Place place) {
  if (keys.shape().dims() != 3)
    fail("store_kv: keys have shape ", keys.shape().text(), ", expected [rows, kv_heads, head_dim]");
  if (keys.dtype() != DType::f32 && keys.dtype() != DType::f16 && keys.dtype() != DType::bf16)
    fail("store_kv: keys are ", name(keys.dtype()), ", expected F32, F16 or BF16");
  const int64_t tokens = slot_mapping.elements(), width = keys.shape()[1] * keys.shape()[2];
  check_operand("store_kv: keys", keys, keys.shape(), place);
  check_operand("store_kv: values", values, keys.dtype(), keys.shape(), place);
  check_operand("store_kv: k", k, DType::f32, {tokens, width}, place);
  check_operand("store_kv: v", v, DType::f32, {tokens, width}, place);
  check_operand("store_kv: slot_mapping", slot_mapping, DType::i32, {tokens}, place);
}

}  // namespace rung
