// Wrong: a sequence's first block is given back first, and so forgotten before its last.
// Expect: a sequence from its end
  for (size_t i = 0; i < blocks.size(); ++i) {
    const int32_t block = blocks[i];
    int64_t& holders = holders_.at(static_cast<size_t>(block));
    if (holders == 0) fail("block ", block, " is given back, but nobody has it");
    if (--holders > 0) continue;
    --used_;
    if (published(block)) {
      place_[static_cast<size_t>(block)] = unused_.insert(unused_.end(), block);
    } else {
      empty_.push_back(block);
    }
  }
