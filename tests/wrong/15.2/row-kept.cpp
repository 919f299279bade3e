// Wrong: the row is never given back.
// Expect: scheduler:
  const auto found = sequences_.find(id);
  const Sequence& sequence = found->second;
  if (sequence.row >= 0) {
    running_.erase(std::find(running_.begin(), running_.end(), id));
  } else {
    waiting_.erase(std::find(waiting_.begin(), waiting_.end(), id));
  }
  sequences_.erase(found);
