// The kernels behind attention() of ops/sequence_attention.h on CUDA, by name, so that tests and measurements
// can set them side by side.
#pragma once

#include "ops/sequence_attention.h"

namespace rung {

// All queries of sequences that have several: scores and values as products of tiles in shared memory, in
// float32. head_dim at most 256. y of other sequences is not touched.
void attention_prefill_tiled(Cuda& device, Tensor& y, const Tensor& q, const Tensor& k, const Tensor& v,
                             const AttentionSequences& sequences);

// The same with the products on tensor cores: queries and weights are rounded to the type of k and v, sums
// are float32. Needs what the next function asks, and finite keys and values.
void attention_prefill_tensor_cores(Cuda& device, Tensor& y, const Tensor& q, const Tensor& k,
                                    const Tensor& v, const AttentionSequences& sequences);
// Whether k has a 16-bit type and head_dim is 64, 80, 96, 128 or 256.
bool tensor_cores_fit(const Tensor& k);

// The query of each sequence that has only one: a warp for each tile of keys, then the tiles are merged.
// Gives the same bits as attention_prefill_tiled. head_dim at most 256. y of other sequences is not touched.
void attention_decode_split(Cuda& device, Tensor& y, const Tensor& q, const Tensor& k, const Tensor& v,
                            const AttentionSequences& sequences);
// Its second half by itself. Of each tile and head, states [key_tiles, heads, 2] holds maximum and sum of the
// scores' softmax, sums [key_tiles, heads, head_dim] the values added up by its numerators.
void attention_merge_tiles(Cuda& device, Tensor& y, const Tensor& states, const Tensor& sums,
                           const AttentionSequences& sequences);

}  // namespace rung
