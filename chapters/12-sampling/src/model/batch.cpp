// A sequence, or a part of one, as a batch.
#include "model/batch.h"

#include <numeric>

namespace rung {

Batch whole_sequence(const std::vector<int32_t>& ids) {
  Batch batch;
  batch.ids = ids;
  batch.positions.resize(ids.size());
  std::iota(batch.positions.begin(), batch.positions.end(), 0);
  batch.logit_rows = {static_cast<int32_t>(ids.size()) - 1};
  return batch;
}

}  // namespace rung
