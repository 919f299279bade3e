// Wrong: a token is written into a block that others have too.
// Expect: an answer copies the block that it writes to
  for (;;) {
    if (block < sequence.blocks.size()) return true;
    if (pool_.available() > 0) {
      sequence.blocks.push_back(pool_.take_one());
      return true;
    }
    const bool itself = running_.back() == id;
    preempt_youngest();
    if (itself) return false;
  }
