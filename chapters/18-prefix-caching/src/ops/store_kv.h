// Writes the keys and values of new tokens into one layer's cache, each to the row that its slot names.
//
//   keys[slot_mapping[t]] = k[t],  values[slot_mapping[t]] = v[t]
#pragma once

#include "rung/device.h"
#include "tensor/tensor.h"

namespace rung {

// keys, values  [rows, kv_heads, head_dim], both f32, f16 or bf16: rounded to nearest even
// k, v          [tokens, kv_heads * head_dim] f32
// slot_mapping  [tokens] i32 in [-1, rows), each row at most once; -1: the token is not stored
void store_kv(Cpu& device, Tensor& keys, Tensor& values, const Tensor& k, const Tensor& v,
              const Tensor& slot_mapping);
void store_kv(Cuda& device, Tensor& keys, Tensor& values, const Tensor& k, const Tensor& v,
              const Tensor& slot_mapping);

}  // namespace rung
