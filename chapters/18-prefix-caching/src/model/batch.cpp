// Sequences, or parts of them, as a batch.
#include "model/batch.h"

#include "rung/error.h"

namespace rung {

void Batch::add(Span<const int32_t> tokens, int64_t position, Span<const int32_t> blocks) {
  const int64_t end = position + static_cast<int64_t>(tokens.size());
  if (end > static_cast<int64_t>(blocks.size()) * block_size) {
    fail("a batch: ", end, " tokens do not fit ", blocks.size(), " blocks of ", block_size);
  }
  // BEGIN SOLUTION 17.3
  for (const int32_t id : tokens) {
    ids.push_back(id);
    positions.push_back(static_cast<int32_t>(position));
    const int64_t block = blocks[static_cast<size_t>(position / block_size)];
    slot_mapping.push_back(static_cast<int32_t>(block * block_size + position % block_size));
    ++position;
  }
  const int64_t used = (end + block_size - 1) / block_size;
  first_block.push_back(static_cast<int32_t>(block_table.size()));
  block_table.insert(block_table.end(), blocks.begin(), blocks.begin() + used);
  query_begin.push_back(static_cast<int32_t>(ids.size()));
  context.push_back(static_cast<int32_t>(end));
  // STUB: (void)tokens, (void)end;
  // STUB: not_done("17.3");
  // END SOLUTION
}

Batch part_of_sequence(const std::vector<int32_t>& ids, int64_t begin, int64_t end) {
  Batch batch;
  while (batch.block_size < end) batch.block_size *= 2;  // so that all stand in one block
  const int32_t block = 0;
  batch.add(Span<const int32_t>(ids).subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin)),
            begin, {&block, 1});
  batch.want_logits();
  return batch;
}

}  // namespace rung
