// Wrong: requests are admitted although their tokens do not fit.
// Expect: scheduler: a request waits
    BlockPool::Taken taken = pool_.take(sequence.ids);
    sequence.blocks = std::move(taken.blocks);
    sequence.computed = taken.cached;
    if (sequence.preemptions == 0) sequence.cached = taken.cached;
