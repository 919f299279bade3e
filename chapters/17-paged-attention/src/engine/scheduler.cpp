// First come, first served, with a budget of tokens a step and a pool of blocks.
#include "engine/scheduler.h"

#include <algorithm>

#include "rung/error.h"

namespace rung {

namespace {

int64_t uncomputed(const Scheduler::Sequence& sequence) {
  return static_cast<int64_t>(sequence.ids.size()) - sequence.computed;
}

}  // namespace

Scheduler::Scheduler(const SchedulerLimits& limits) : limits_(limits), pool_(limits.blocks) {
  if (limits.running < 1 || limits.step_tokens < limits.running) {
    fail("a step of ", limits.step_tokens, " tokens for ", limits.running,
         " requests at once: expected at least one request, and a token for each");
  }
  if (limits.blocks.count < 1) fail("a pool of no blocks serves nobody");
}

void Scheduler::add(RequestId id, std::vector<int32_t> prompt) {
  const int64_t tokens = static_cast<int64_t>(prompt.size()), slots = pool_.total() * pool_.block_size();
  if (tokens > slots) fail("the prompt has ", tokens, " tokens and the KV cache has space for ", slots);
  sequences_[id].ids = std::move(prompt);
  waiting_.push_back(id);
}

// The youngest running request loses its blocks and waits again, before all who never ran.
void Scheduler::preempt_youngest() {
  if (running_.empty()) fail("no request runs any more that could be preempted");
  const RequestId id = running_.back();
  Sequence& sequence = sequences_[id];
  pool_.give_back(sequence.blocks, {sequence.ids.data(), static_cast<size_t>(sequence.computed)});
  sequence.blocks.clear();
  sequence.computed = 0;
  ++sequence.preemptions;
  ++preemptions_;
  running_.pop_back();
  waiting_.push_front(id);
}

// Gets a running request the block for its newest token, if it needs one. False if it had to give up its own.
bool Scheduler::make_room(RequestId id) {
  Sequence& sequence = sequences_[id];
  // BEGIN SOLUTION 17.6
  while (static_cast<int64_t>(sequence.blocks.size()) <
         pool_.needed(static_cast<int64_t>(sequence.ids.size()))) {
    if (pool_.free() > 0) {
      sequence.blocks.push_back(pool_.take_one());
      continue;
    }
    const bool itself = running_.back() == id;
    preempt_youngest();
    if (itself) return false;
  }
  // STUB: (void)sequence;
  // STUB: not_done("17.6");
  // END SOLUTION
  return true;
}

std::vector<ScheduledTokens> Scheduler::schedule() {
  std::vector<ScheduledTokens> step;
  int64_t budget = limits_.step_tokens;
  const auto take = [&](RequestId id) {
    const Sequence& sequence = sequences_[id];
    const int64_t count = std::min(uncomputed(sequence), budget);
    if (count == 0) return;
    step.push_back({id, sequence.computed, count, count == uncomputed(sequence)});
    budget -= count;
  };
  for (size_t i = 0; i < running_.size(); ++i) {  // those behind i may be preempted on the way
    const RequestId id = running_[i];
    if (uncomputed(sequences_[id]) == 1 && make_room(id)) take(id);
  }
  for (const RequestId id : running_) {
    if (uncomputed(sequences_[id]) > 1) take(id);
  }
  while (!waiting_.empty() && running() < limits_.running && budget > 0) {
    const RequestId id = waiting_.front();
    Sequence& sequence = sequences_[id];
    // BEGIN SOLUTION 17.5
    if (pool_.needed(static_cast<int64_t>(sequence.ids.size())) > pool_.free()) break;
    BlockPool::Taken taken = pool_.take(sequence.ids);
    sequence.blocks = std::move(taken.blocks);
    sequence.computed = taken.cached;
    if (sequence.preemptions == 0) sequence.cached = taken.cached;
    // STUB: (void)sequence;
    // STUB: not_done("17.5");
    // END SOLUTION
    waiting_.pop_front();
    running_.push_back(id);
    take(id);
  }
  return step;
}

void Scheduler::computed(const std::vector<ScheduledTokens>& step) {
  for (const ScheduledTokens& tokens : step) sequences_[tokens.id].computed += tokens.count;
}

void Scheduler::append(RequestId id, int32_t token) {
  sequences_.at(id).ids.push_back(token);
}

void Scheduler::remove(RequestId id) {
  const auto found = sequences_.find(id);
  const Sequence& sequence = found->second;
  if (!sequence.blocks.empty()) {
    pool_.give_back(sequence.blocks, {sequence.ids.data(), static_cast<size_t>(sequence.computed)});
    running_.erase(std::find(running_.begin(), running_.end(), id));
  } else {
    waiting_.erase(std::find(waiting_.begin(), waiting_.end(), id));
  }
  sequences_.erase(found);
}

}  // namespace rung
