// What one forward pass computes: some tokens, where each stands, and for which
// of them logits are wanted.
#pragma once

#include <cstdint>
#include <vector>

namespace rung {

struct Batch {
  std::vector<int32_t> ids;         // [tokens]
  std::vector<int32_t> positions;   // [tokens] place of each token in its sequence, from 0
  std::vector<int32_t> logit_rows;  // indices into ids of the tokens whose logits are wanted

  int64_t tokens() const { return static_cast<int64_t>(ids.size()); }
};

// The whole of one sequence from position 0, logits for the last token only.
Batch whole_sequence(const std::vector<int32_t>& ids);

}  // namespace rung
