// Wrong: requests that wait get a row although no token of the step is left for them.
// Expect: scheduler:
  while (!waiting_.empty() && rows_.free() > 0 && budget > 0) {
    const RequestId id = waiting_.front();
    Sequence& sequence = sequences_[id];
    const RowPool::Taken taken = rows_.take(sequence.ids);
    sequence.row = taken.row;
    sequence.computed = sequence.cached = taken.cached;
    waiting_.pop_front();
    running_.push_back(id);
  }
  for (const RequestId id : running_) take(id);
