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
  int64_t forks;     // further answers that begin here: their first tokens are chosen from the same logits
};

// A block whose contents are wanted in another one too.
struct BlockCopy {
  int32_t from, to;
};

class Scheduler {
 public:
  // Throws Error unless 1 <= limits.running <= limits.step_tokens and there is a block. hash: for tests that
  // want collisions.
  explicit Scheduler(const SchedulerLimits& limits, PrefixIndex::Hash hash = chained_hash);

  // The request waits behind all others. It wants so many answers, which are requests of their own from the
  // first token on: id, id + 1, … Precondition: these ids are new, the prompt is not empty. Throws Error if
  // the prompt does not fit the whole pool, or not so many requests can run at once.
  void add(RequestId id, std::vector<int32_t> prompt, int64_t answers = 1);
  // The work of the next step: at most one entry a request, step_tokens tokens in all; empty if there is
  // nothing to do. First every running request that has one token left to compute gets it: whoever writes is
  // not held up. Then prompts take what is left of the budget, a part of one if it must be, in the order in
  // which they came; waiting requests start, in the same order, while there is budget and the pool has blocks
  // for all of their tokens. One that starts shares the blocks that hold its beginning.
  //
  // A request that needs a block when none can be had gets one of the youngest running request, which loses
  // all of its blocks and waits again, first in line; what of its tokens is not cached any more is computed
  // again later. So the oldest request always goes on. Precondition: no request alone grows longer than the
  // pool.
  std::vector<ScheduledTokens> schedule();
  // Copies to be made, in this order, before the step that was scheduled last is computed: a request that
  // writes into a block which others hold gets a block of its own first.
  const std::vector<BlockCopy>& copies() const { return copies_; }
  // These tokens' keys and values are in the cache now: blocks that are full can be shared, and further
  // answers begin.
  void computed(const std::vector<ScheduledTokens>& step);
  // The request goes on with this token.
  void append(RequestId id, int32_t token);
  // The request has ended or is aborted, waiting or running: it is gone at once, with those of its answers
  // that have not begun, and nobody has its blocks. Does nothing for an answer that has not begun.
  void remove(RequestId id);

  int64_t waiting() const { return static_cast<int64_t>(waiting_.size()); }
  int64_t running() const { return static_cast<int64_t>(running_.size()); }
  // In the order in which they are served.
  const std::deque<RequestId>& waiting_requests() const { return waiting_; }
  const std::vector<RequestId>& running_requests() const { return running_; }

  struct Sequence {
    std::vector<int32_t> ids;     // prompt and output so far
    int64_t computed = 0;         // of them, from the beginning on, those in the cache
    int64_t cached = 0;           // of the prompt, those that were in the cache when it started
    std::vector<int32_t> blocks;  // where its tokens stand; none: it waits
    int64_t published = 0;        // of its blocks, from the first on, those that others can find
    int64_t forks = 0;            // further answers that begin when the prompt is computed
    int64_t preemptions = 0;      // how often it lost its blocks
  };
  // Precondition: it was added and not removed.
  const Sequence& sequence(RequestId id) const { return sequences_.at(id); }
  const BlockPool& pool() const { return pool_; }
  // Of all requests so far: preemptions, and tokens that were in the cache when a request started or went on.
  int64_t preemptions() const { return preemptions_; }
  int64_t cached() const { return cached_; }

 private:
  bool make_room(RequestId id);
  void preempt_youngest();
  void publish(Sequence& sequence);
  void fork(RequestId id);

  SchedulerLimits limits_;
  BlockPool pool_;
  std::vector<BlockCopy> copies_;
  int64_t claimed_ = 0;  // answers that run, or will as soon as their prompt is computed
  int64_t preemptions_ = 0, cached_ = 0;
  std::map<RequestId, Sequence> sequences_;
  std::deque<RequestId> waiting_;   // in order of arrival
  std::vector<RequestId> running_;  // in the same order
};

}  // namespace rung
