// Wrong: each further answer still has further answers to begin.
// Expect: scheduler.sequence(id).forks == 0
  auto place = std::find(running_.begin(), running_.end(), id);
  for (int64_t i = 1; first.forks > 0; ++i, --first.forks) {
    Sequence& answer = sequences_[id + i];
    answer = first;
    pool_.share(answer.blocks);
    place = running_.insert(place + 1, id + i);
  }
