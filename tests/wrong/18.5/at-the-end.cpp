// Wrong: further answers queue behind all others that run.
// Expect: further answers begin right behind the first
  for (int64_t i = 1; first.forks > 0; ++i, --first.forks) {
    Sequence& answer = sequences_[id + i];
    answer = first;
    answer.forks = 0;
    pool_.share(answer.blocks);
    running_.push_back(id + i);
  }
