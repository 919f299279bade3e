// Wrong: the blocks' holders are not counted.
// Expect: scheduler.pool().holders(blocks[0]) == 3
  auto place = std::find(running_.begin(), running_.end(), id);
  for (int64_t i = 1; first.forks > 0; ++i, --first.forks) {
    Sequence& answer = sequences_[id + i];
    answer = first;
    answer.forks = 0;
    place = running_.insert(place + 1, id + i);
  }
