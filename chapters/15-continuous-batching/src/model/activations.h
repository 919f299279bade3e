// Every intermediate of a forward pass, allocated once and used again by all
// layers.
#pragma once

#include "model_file/hyperparameters.h"
#include "ops/sequence_attention.h"
#include "tensor/device_tensor.h"

namespace rung {

struct Activations {
  // The batch's integers on the device, set for each pass.
  Tensor ids, positions, slot_mapping;  // [tokens] i32
  Tensor logit_rows;                    // [logit rows] i32
  AttentionSequences sequences;

  Tensor residual;  // [capacity, hidden], the stream that every block adds to
  Tensor normed;    // [capacity, hidden], what a block reads
  // [capacity, heads * head_dim], and [capacity, kv_heads * head_dim] twice
  Tensor q, k, v;
  Tensor attended;      // [capacity, heads * head_dim]
  Tensor gate, up;      // [capacity, feed_forward]
  Tensor block_output;  // [capacity, hidden], what a block adds to the stream
  // [logit_capacity, hidden], the rows whose logits are wanted
  Tensor last, last_normed;
  Tensor logits;  // [logit_capacity, vocabulary]
};

// In place of a device: adds up the bytes and allocates nothing.
struct ByteCount {
  uint64_t bytes = 0;
};
inline Tensor empty(ByteCount& count, DType dtype, const Shape& shape) {
  count.bytes += row_bytes(dtype, static_cast<size_t>(shape.elements()));
  return Tensor();
}

// Space for forward passes of up to `capacity` tokens, with logits for up to
// `logit_capacity` of them.
template <class Device>
Activations allocate_activations(Device& device, const Hyperparameters& h, int64_t capacity,
                                 int64_t logit_capacity) {
  const auto floats = [&](int64_t rows, int64_t columns) {
    return empty(device, DType::f32, {rows, columns});
  };
  Activations a;
  a.residual = floats(capacity, h.hidden);
  a.normed = floats(capacity, h.hidden);
  a.q = floats(capacity, h.query_width());
  a.k = floats(capacity, h.kv_width());
  a.v = floats(capacity, h.kv_width());
  a.attended = floats(capacity, h.query_width());
  a.gate = floats(capacity, h.feed_forward);
  a.up = floats(capacity, h.feed_forward);
  a.block_output = floats(capacity, h.hidden);
  a.last = floats(logit_capacity, h.hidden);
  a.last_normed = floats(logit_capacity, h.hidden);
  a.logits = floats(logit_capacity, h.vocabulary);
  return a;
}

// Bytes that allocate_activations() takes.
inline uint64_t activation_bytes(const Hyperparameters& h, int64_t capacity, int64_t logit_capacity) {
  ByteCount count;
  allocate_activations(count, h, capacity, logit_capacity);
  return count.bytes;
}

// The first `rows` rows of each tensor that has one row a token: what a pass of
// so many tokens works on.
Activations first_rows(const Activations& activations, int64_t tokens, int64_t logit_rows);

}  // namespace rung
