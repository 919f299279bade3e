// Sequences, or parts of them, as a batch.
#include "model/batch.h"

namespace rung {

void Batch::add(Span<const int32_t> tokens, int64_t position, int64_t first_slot, int64_t padding) {
  ids.insert(ids.end(), static_cast<size_t>(padding), 0);
  positions.insert(positions.end(), static_cast<size_t>(padding), 0);
  slot_mapping.insert(slot_mapping.end(), static_cast<size_t>(padding), -1);
  for (const int32_t id : tokens) {
    ids.push_back(id);
    positions.push_back(static_cast<int32_t>(position));
    slot_mapping.push_back(static_cast<int32_t>(first_slot + position));
    ++position;
  }
  query_begin.push_back(static_cast<int32_t>(ids.size()));
  context.push_back(tokens.empty() ? 0 : static_cast<int32_t>(position));
  first_row.push_back(static_cast<int32_t>(first_slot));
}

Batch part_of_sequence(const std::vector<int32_t>& ids, int64_t begin, int64_t end) {
  Batch batch;
  batch.add(Span<const int32_t>(ids).subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin)),
            begin, 0);
  batch.want_logits();
  return batch;
}

}  // namespace rung
