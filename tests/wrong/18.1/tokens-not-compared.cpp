// Wrong: the hash and the parent are taken for proof: the tokens are not compared.
// Expect: a block is found by its tokens and by what stands before them
  const auto [begin, end] = blocks_of_.equal_range(hash_of(parent, tokens));
  for (auto candidate = begin; candidate != end; ++candidate) {
    const Entry& entry = entries_[static_cast<size_t>(candidate->second)];
    if (entry.parent == parent) return candidate->second;
  }
  return kNone;
