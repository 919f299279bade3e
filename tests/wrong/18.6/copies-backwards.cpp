// Wrong: the new block is copied over the one that others have.
// Expect: scheduler.copies()[0].from == 1
  for (;;) {
    const bool missing = block == sequence.blocks.size();
    if (!missing && pool_.holders(sequence.blocks[block]) == 1) return true;
    if (pool_.available() > 0) {
      const int32_t own = pool_.take_one();
      if (missing) {
        sequence.blocks.push_back(own);
      } else {
        copies_.push_back({own, sequence.blocks[block]});
        pool_.give_back({&sequence.blocks[block], 1});
        sequence.blocks[block] = own;
      }
      return true;
    }
    const bool itself = running_.back() == id;
    preempt_youngest();
    if (itself) return false;
  }
