// What one forward pass computes: tokens of one or several sequences, packed one after the other; where each
// stands in its sequence and in the cache; and for which of them logits are wanted.
#pragma once

#include <cstdint>
#include <vector>

#include "rung/span.h"

namespace rung {

struct Batch {
  // One entry a token.
  std::vector<int32_t> ids;
  std::vector<int32_t> positions;     // in its sequence, from 0
  std::vector<int32_t> slot_mapping;  // where in the cache its keys and values go; -1: nowhere
  // One entry a sequence, in query_begin one more: the tokens of s are [query_begin[s], query_begin[s + 1]).
  std::vector<int32_t> query_begin = {0};
  std::vector<int32_t> context;    // tokens that its last one sees, itself included
  std::vector<int32_t> first_row;  // the slot of its first token
  // Indices into ids of the tokens whose logits are wanted.
  std::vector<int32_t> logit_rows;

  int64_t tokens() const { return static_cast<int64_t>(ids.size()); }
  int64_t sequences() const { return static_cast<int64_t>(context.size()); }

  // Adds tokens of one sequence whose slots begin at first_slot, the first of them at that position. Before
  // them come `padding` tokens that see nothing, are stored nowhere, and concern nobody.
  void add(Span<const int32_t> tokens, int64_t position, int64_t first_slot, int64_t padding = 0);
  // Asks for the logits of the token that was added last.
  void want_logits() { logit_rows.push_back(static_cast<int32_t>(ids.size()) - 1); }
};

// The tokens ids[begin, end) of one sequence in the first row of a cache, logits for the last of them only.
Batch part_of_sequence(const std::vector<int32_t>& ids, int64_t begin, int64_t end);

}  // namespace rung
