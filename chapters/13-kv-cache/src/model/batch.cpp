// A sequence, or a part of one, as a batch.
#include "model/batch.h"

#include <numeric>

namespace rung {

Batch part_of_sequence(const std::vector<int32_t>& ids, int64_t begin, int64_t end) {
  Batch batch;
  batch.ids.assign(ids.begin() + begin, ids.begin() + end);
  batch.positions.resize(batch.ids.size());
  std::iota(batch.positions.begin(), batch.positions.end(), static_cast<int32_t>(begin));
  batch.logit_rows = {static_cast<int32_t>(batch.ids.size()) - 1};
  return batch;
}

}  // namespace rung
