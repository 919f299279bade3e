// First come, first served, with a budget of tokens a step.
#include "engine/scheduler.h"

#include <algorithm>

#include "rung/error.h"

namespace rung {

namespace {

int64_t uncomputed(const Scheduler::Sequence& sequence) {
  return static_cast<int64_t>(sequence.ids.size()) - sequence.computed;
}

}  // namespace

Scheduler::Scheduler(const SchedulerLimits& limits) : limits_(limits), rows_(limits.running) {
  if (limits.running < 1 || limits.step_tokens < limits.running) {
    fail("a step of ", limits.step_tokens, " tokens for ", limits.running,
         " requests at once: expected at least one request, and a token for each");
  }
}

void Scheduler::add(RequestId id, std::vector<int32_t> prompt) {
  sequences_[id].ids = std::move(prompt);
  waiting_.push_back(id);
}

std::vector<ScheduledTokens> Scheduler::schedule() {
  std::vector<ScheduledTokens> step;
  int64_t budget = limits_.step_tokens;
  const auto take = [&](RequestId id) {
    const Sequence& sequence = sequences_[id];
    const int64_t count = std::min(uncomputed(sequence), budget);
    if (count == 0) return;
    step.push_back({id, sequence.row, sequence.computed, count, count == uncomputed(sequence)});
    budget -= count;
  };
  // BEGIN SOLUTION 15.1
  for (const RequestId id : running_) {
    if (uncomputed(sequences_[id]) == 1) take(id);
  }
  for (const RequestId id : running_) {
    if (uncomputed(sequences_[id]) > 1) take(id);
  }
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
  // STUB: (void)take;
  // STUB: not_done("15.1");
  // END SOLUTION
  return step;
}

void Scheduler::computed(const std::vector<ScheduledTokens>& step) {
  for (const ScheduledTokens& tokens : step) sequences_[tokens.id].computed += tokens.count;
}

void Scheduler::append(RequestId id, int32_t token) {
  sequences_.at(id).ids.push_back(token);
}

void Scheduler::remove(RequestId id) {
  // BEGIN SOLUTION 15.2
  const auto found = sequences_.find(id);
  const Sequence& sequence = found->second;
  if (sequence.row >= 0) {
    rows_.give_back(sequence.row, {sequence.ids.data(), static_cast<size_t>(sequence.computed)});
    running_.erase(std::find(running_.begin(), running_.end(), id));
  } else {
    waiting_.erase(std::find(waiting_.begin(), waiting_.end(), id));
  }
  sequences_.erase(found);
  // STUB: (void)id;
  // STUB: not_done("15.2");
  // END SOLUTION
}

}  // namespace rung
