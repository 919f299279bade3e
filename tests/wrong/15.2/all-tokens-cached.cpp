// Wrong: the row goes back with all tokens that are known, computed or not.
// Expect: scheduler:
  const auto found = sequences_.find(id);
  const Sequence& sequence = found->second;
  if (sequence.row >= 0) {
    rows_.give_back(sequence.row, {sequence.ids.data(), sequence.ids.size()});
    running_.erase(std::find(running_.begin(), running_.end(), id));
  } else {
    waiting_.erase(std::find(waiting_.begin(), waiting_.end(), id));
  }
  sequences_.erase(found);
