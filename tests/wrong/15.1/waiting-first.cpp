// Wrong: requests that wait come before those that run.
// Expect: scheduler:
  const std::vector<RequestId> before = running_;
  while (!waiting_.empty() && rows_.free() > 0 && budget > 0) {
    const RequestId id = waiting_.front();
    Sequence& sequence = sequences_[id];
    const RowPool::Taken taken = rows_.take(sequence.ids);
    sequence.row = taken.row;
    sequence.computed = sequence.cached = taken.cached;
    waiting_.pop_front();
    running_.push_back(id);
    take(id);
  }
  for (const RequestId id : before) take(id);
