// Wrong: the table keeps a block that the pool has taken back for another with the same contents.
// Expect: computed at once become one
  const int64_t size = pool_.block_size();
  for (int64_t& block = sequence.published; (block + 1) * size <= sequence.computed; ++block) {
    const int32_t own = sequence.blocks[static_cast<size_t>(block)];
    const int32_t parent = block == 0 ? PrefixIndex::kNone : sequence.blocks[static_cast<size_t>(block - 1)];
    pool_.publish(own, parent, {sequence.ids.data() + block * size, static_cast<size_t>(size)});
  }
