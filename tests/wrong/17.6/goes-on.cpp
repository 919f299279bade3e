// Wrong: a request that preempted itself goes on.
// Expect: scheduler: the youngest
  while (static_cast<int64_t>(sequence.blocks.size()) <
         pool_.needed(static_cast<int64_t>(sequence.ids.size()))) {
    if (pool_.free() > 0) {
      sequence.blocks.push_back(pool_.take_one());
      continue;
    }
    const bool itself = running_.back() == id;
    preempt_youngest();
    (void)itself;
  }
