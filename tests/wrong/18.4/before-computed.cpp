// Wrong: a block is published as soon as its tokens are known.
// Expect: full blocks are published when they are computed
  const int64_t size = pool_.block_size();
  const auto known = static_cast<int64_t>(sequence.ids.size());
  for (int64_t& block = sequence.published; (block + 1) * size <= known; ++block) {
    int32_t& own = sequence.blocks[static_cast<size_t>(block)];
    const int32_t parent = block == 0 ? PrefixIndex::kNone : sequence.blocks[static_cast<size_t>(block - 1)];
    own = pool_.publish(own, parent, {sequence.ids.data() + block * size, static_cast<size_t>(size)});
  }
