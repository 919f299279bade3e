// Wrong: what the cache holds already is computed again.
// Expect: scheduler: a request waits
    if (pool_.needed(static_cast<int64_t>(sequence.ids.size())) > pool_.free()) break;
    BlockPool::Taken taken = pool_.take(sequence.ids);
    sequence.blocks = std::move(taken.blocks);
    if (sequence.preemptions == 0) sequence.cached = taken.cached;
