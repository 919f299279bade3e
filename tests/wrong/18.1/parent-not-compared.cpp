// Wrong: a block with the same tokens is taken, whatever stands before it.
// Expect: a block is found by its tokens and by what stands before them
  const auto [begin, end] = blocks_of_.equal_range(hash_of(parent, tokens));
  for (auto candidate = begin; candidate != end; ++candidate) {
    const Entry& entry = entries_[static_cast<size_t>(candidate->second)];
    if (std::equal(tokens.begin(), tokens.end(), entry.tokens.begin(), entry.tokens.end())) {
      return candidate->second;
    }
  }
  return kNone;
