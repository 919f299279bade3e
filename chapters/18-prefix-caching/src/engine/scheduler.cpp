// First come, first served, with a budget of tokens a step and a pool of blocks that requests share.
#include "engine/scheduler.h"

#include <algorithm>

#include "rung/error.h"

namespace rung {

namespace {

int64_t uncomputed(const Scheduler::Sequence& sequence) {
  return static_cast<int64_t>(sequence.ids.size()) - sequence.computed;
}

}  // namespace

Scheduler::Scheduler(const SchedulerLimits& limits, PrefixIndex::Hash hash)
    : limits_(limits), pool_(limits.blocks, hash) {
  if (limits.running < 1 || limits.step_tokens < limits.running) {
    fail("a step of ", limits.step_tokens, " tokens for ", limits.running,
         " requests at once: expected at least one request, and a token for each");
  }
  if (limits.blocks.count < 1) fail("a pool of no blocks serves nobody");
}

void Scheduler::add(RequestId id, std::vector<int32_t> prompt, int64_t answers) {
  const int64_t tokens = static_cast<int64_t>(prompt.size()), slots = pool_.total() * pool_.block_size();
  if (tokens > slots) fail("the prompt has ", tokens, " tokens and the KV cache has space for ", slots);
  if (answers < 1 || answers > limits_.running) {
    fail(answers, " answers are wanted, expected at least one and at most ", limits_.running,
         ", as many as can be written at once");
  }
  Sequence& sequence = sequences_[id];
  sequence.ids = std::move(prompt);
  sequence.forks = answers - 1;
  waiting_.push_back(id);
}

// The youngest running request gives up its blocks and waits again, before all who never ran.
void Scheduler::preempt_youngest() {
  if (running_.empty()) fail("no request runs any more that could be preempted");
  const RequestId id = running_.back();
  Sequence& sequence = sequences_[id];
  pool_.give_back(sequence.blocks);
  sequence.blocks.clear();
  sequence.computed = sequence.published = 0;
  ++sequence.preemptions;
  ++preemptions_;
  claimed_ -= 1 + sequence.forks;
  running_.pop_back();
  waiting_.push_front(id);
}

// Sees to it that the newest token of a running request has a slot, in a block that nobody else holds. False
// if the request had to give up its own.
bool Scheduler::make_room(RequestId id) {
  Sequence& sequence = sequences_[id];
  const auto block = static_cast<size_t>(sequence.computed / pool_.block_size());
  // BEGIN SOLUTION 18.6
  for (;;) {
    const bool missing = block == sequence.blocks.size();
    if (!missing && pool_.holders(sequence.blocks[block]) == 1) return true;
    if (pool_.available() > 0) {
      const int32_t own = pool_.take_one();
      if (missing) {
        sequence.blocks.push_back(own);
      } else {
        copies_.push_back({sequence.blocks[block], own});
        pool_.give_back({&sequence.blocks[block], 1});
        sequence.blocks[block] = own;
      }
      return true;
    }
    const bool itself = running_.back() == id;
    preempt_youngest();
    if (itself) return false;
  }
  // STUB: (void)block;
  // STUB: not_done("18.6");
  // END SOLUTION
}

std::vector<ScheduledTokens> Scheduler::schedule() {
  std::vector<ScheduledTokens> step;
  int64_t budget = limits_.step_tokens;
  copies_.clear();
  const auto take = [&](RequestId id) {
    const Sequence& sequence = sequences_[id];
    const int64_t count = std::min(uncomputed(sequence), budget);
    if (count == 0) return;
    const bool all = count == uncomputed(sequence);
    step.push_back({id, sequence.computed, count, all, all ? sequence.forks : 0});
    budget -= count;
  };
  for (size_t i = 0; i < running_.size(); ++i) {  // those behind i may be preempted on the way
    const RequestId id = running_[i];
    if (uncomputed(sequences_[id]) == 1 && make_room(id)) take(id);
  }
  for (const RequestId id : running_) {
    if (uncomputed(sequences_[id]) > 1) take(id);
  }
  while (!waiting_.empty() && budget > 0) {
    const RequestId id = waiting_.front();
    Sequence& sequence = sequences_[id];
    if (claimed_ + 1 + sequence.forks > limits_.running) break;
    std::optional<BlockPool::Taken> taken = pool_.take(sequence.ids);
    if (!taken) break;
    sequence.blocks = std::move(taken->blocks);
    sequence.computed = taken->cached;
    sequence.published = taken->cached / pool_.block_size();
    if (sequence.preemptions == 0) sequence.cached = taken->cached;
    cached_ += taken->cached;
    claimed_ += 1 + sequence.forks;
    waiting_.pop_front();
    running_.push_back(id);
    take(id);
  }
  return step;
}

// Blocks of the sequence that have become full can be found by others from now on.
void Scheduler::publish(Sequence& sequence) {
  // BEGIN SOLUTION 18.4
  const int64_t size = pool_.block_size();
  for (int64_t& block = sequence.published; (block + 1) * size <= sequence.computed; ++block) {
    int32_t& own = sequence.blocks[static_cast<size_t>(block)];
    const int32_t parent = block == 0 ? PrefixIndex::kNone : sequence.blocks[static_cast<size_t>(block - 1)];
    own = pool_.publish(own, parent, {sequence.ids.data() + block * size, static_cast<size_t>(size)});
  }
  // STUB: (void)sequence;
  // STUB: not_done("18.4");
  // END SOLUTION
}

// The further answers of a request whose prompt is computed begin beside it, with the same blocks.
void Scheduler::fork(RequestId id) {
  Sequence& first = sequences_[id];
  // BEGIN SOLUTION 18.5
  auto place = std::find(running_.begin(), running_.end(), id);
  for (int64_t i = 1; first.forks > 0; ++i, --first.forks) {
    Sequence& answer = sequences_[id + i];
    answer = first;
    answer.forks = 0;
    pool_.share(answer.blocks);
    place = running_.insert(place + 1, id + i);
  }
  // STUB: (void)first;
  // STUB: not_done("18.5");
  // END SOLUTION
}

void Scheduler::computed(const std::vector<ScheduledTokens>& step) {
  for (const ScheduledTokens& tokens : step) {
    Sequence& sequence = sequences_[tokens.id];
    sequence.computed += tokens.count;
    publish(sequence);
    if (tokens.forks > 0) fork(tokens.id);
  }
}

void Scheduler::append(RequestId id, int32_t token) {
  sequences_.at(id).ids.push_back(token);
}

void Scheduler::remove(RequestId id) {
  const auto found = sequences_.find(id);
  if (found == sequences_.end()) return;
  const Sequence& sequence = found->second;
  if (!sequence.blocks.empty()) {
    pool_.give_back(sequence.blocks);
    claimed_ -= 1 + sequence.forks;
    running_.erase(std::find(running_.begin(), running_.end(), id));
  } else {
    waiting_.erase(std::find(waiting_.begin(), waiting_.end(), id));
  }
  sequences_.erase(found);
}

}  // namespace rung
