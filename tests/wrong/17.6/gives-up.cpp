// Wrong: room is never made: the request waits for a block that nobody frees.
// Expect: scheduler: the youngest
  while (static_cast<int64_t>(sequence.blocks.size()) <
         pool_.needed(static_cast<int64_t>(sequence.ids.size()))) {
    if (pool_.free() > 0) {
      sequence.blocks.push_back(pool_.take_one());
      continue;
    }
    (void)id;
    return false;
  }
