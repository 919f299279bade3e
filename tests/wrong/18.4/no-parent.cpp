// Wrong: every block is published as the first of a sequence.
// Expect: shared from then on
  const int64_t size = pool_.block_size();
  for (int64_t& block = sequence.published; (block + 1) * size <= sequence.computed; ++block) {
    int32_t& own = sequence.blocks[static_cast<size_t>(block)];
    own = pool_.publish(own, PrefixIndex::kNone,
                        {sequence.ids.data() + block * size, static_cast<size_t>(size)});
  }
