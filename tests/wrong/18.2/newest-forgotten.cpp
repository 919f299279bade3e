// Wrong: the block that has just become unused is the next to be forgotten.
// Expect: the block unused for longest is forgotten first
  for (size_t i = blocks.size(); i-- > 0;) {
    const int32_t block = blocks[i];
    int64_t& holders = holders_.at(static_cast<size_t>(block));
    if (holders == 0) fail("block ", block, " is given back, but nobody has it");
    if (--holders > 0) continue;
    --used_;
    if (published(block)) {
      place_[static_cast<size_t>(block)] = unused_.insert(unused_.begin(), block);
    } else {
      empty_.push_back(block);
    }
  }
