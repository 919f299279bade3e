// Wrong: nobody is preempted: the request waits for a block that nobody frees.
// Expect: the youngest gives up its blocks
  const bool missing = block == sequence.blocks.size();
  if (!missing && pool_.holders(sequence.blocks[block]) == 1) return true;
  if (pool_.available() == 0) return false;
  const int32_t own = pool_.take_one();
  if (missing) {
    sequence.blocks.push_back(own);
  } else {
    copies_.push_back({sequence.blocks[block], own});
    pool_.give_back({&sequence.blocks[block], 1});
    sequence.blocks[block] = own;
  }
  return true;
