// Wrong: a block goes back although others still have it.
// Expect: pool.holders(a[0]) == 1
  for (size_t i = blocks.size(); i-- > 0;) {
    const int32_t block = blocks[i];
    int64_t& holders = holders_.at(static_cast<size_t>(block));
    if (holders == 0) fail("block ", block, " is given back, but nobody has it");
    holders = 0;
    --used_;
    if (published(block)) {
      place_[static_cast<size_t>(block)] = unused_.insert(unused_.end(), block);
    } else {
      empty_.push_back(block);
    }
  }
