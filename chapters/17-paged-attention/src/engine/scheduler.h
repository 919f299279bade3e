// Decides which requests run and which of their tokens go through the model in the next step. It knows tokens
// and blocks, but neither a device nor a model, so that a test can drive it through any schedule.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "cache/block_pool.h"

namespace rung {

using RequestId = int64_t;

struct SchedulerLimits {
  int64_t step_tokens;  // most tokens of one step; at least `running`, so that every running request moves
  int64_t running;      // most requests that run at once
  KvBlocks blocks;      // of the cache
};

// Tokens [begin, begin + count) of one request, to be computed in one step.
struct ScheduledTokens {
  RequestId id;
  int64_t begin, count;
  bool wants_token;  // nothing of the request is left to compute then: its next token can be chosen
};

class Scheduler {
 public:
  // Throws Error unless 1 <= limits.running <= limits.step_tokens and there is a block.
  explicit Scheduler(const SchedulerLimits& limits);

  // The request waits behind all others. Precondition: the id is new, the prompt is not empty. Throws Error
  // if the prompt does not fit the whole pool.
  void add(RequestId id, std::vector<int32_t> prompt);
  // The work of the next step: at most one entry a request, step_tokens tokens in all; empty if there is
  // nothing to do. First every running request that has one token left to compute gets it: whoever writes is
  // not held up. Then prompts take what is left of the budget, a part of one if it must be, in the order in
  // which they came; waiting requests start, in the same order, while there is budget
  // and the pool has blocks for all of their tokens.
  //
  // A request that needs a block when none is free gets one of the youngest running request, which loses all
  // of its blocks and waits again, first in line; its tokens are computed again later. So the oldest request
  // always goes on. Precondition: no request alone grows longer than the pool.
  std::vector<ScheduledTokens> schedule();
  // These tokens' keys and values are in the cache now.
  void computed(const std::vector<ScheduledTokens>& step);
  // The request goes on with this token.
  void append(RequestId id, int32_t token);
  // The request has ended or is aborted, waiting or running: it is gone at once, its blocks free.
  void remove(RequestId id);

  int64_t waiting() const { return static_cast<int64_t>(waiting_.size()); }
  int64_t running() const { return static_cast<int64_t>(running_.size()); }

  struct Sequence {
    std::vector<int32_t> ids;     // prompt and output so far
    int64_t computed = 0;         // of them, from the beginning on, those in the cache
    int64_t cached = 0;           // of the prompt, those that were in the cache when it started
    std::vector<int32_t> blocks;  // where its tokens stand; none: it waits
    int64_t preemptions = 0;      // how often it lost them
  };
  // Precondition: it was added and not removed.
  const Sequence& sequence(RequestId id) const { return sequences_.at(id); }
  const BlockPool& pool() const { return pool_; }
  int64_t preemptions() const { return preemptions_; }  // of all requests so far

 private:
  bool make_room(RequestId id);
  void preempt_youngest();

  SchedulerLimits limits_;
  BlockPool pool_;
  int64_t preemptions_ = 0;
  std::map<RequestId, Sequence> sequences_;
  std::deque<RequestId> waiting_;   // in order of arrival
  std::vector<RequestId> running_;  // in the same order
};

}  // namespace rung
