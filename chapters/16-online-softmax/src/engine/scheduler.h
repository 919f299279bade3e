// Decides which requests run and which of their tokens go through the model in the next step. It knows tokens
// and rows, but neither a device nor a model, so that a test can drive it through any schedule.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "cache/row_pool.h"

namespace rung {

using RequestId = int64_t;

struct SchedulerLimits {
  int64_t step_tokens;  // most tokens of one step; at least `running`, so that every running request moves
  int64_t running;      // most requests that run at once: each has a row of the cache
};

// Tokens [begin, begin + count) of one request, to be computed in one step.
struct ScheduledTokens {
  RequestId id;
  int64_t row, begin, count;
  bool wants_token;  // nothing of the request is left to compute then: its next token can be chosen
};

class Scheduler {
 public:
  // Throws Error unless 1 <= limits.running <= limits.step_tokens.
  explicit Scheduler(const SchedulerLimits& limits);

  // The request waits behind all others. Precondition: the id is new, the prompt is not empty.
  void add(RequestId id, std::vector<int32_t> prompt);
  // The work of the next step: at most one entry a request, step_tokens tokens in all; empty if there is
  // nothing to do. First every running request that has one token left to compute gets it: whoever writes is
  // not held up. Then prompts take what is left of the budget, a part of one if it must be, in the order in
  // which they came; waiting requests start, in the same order, while there are rows and budget.
  std::vector<ScheduledTokens> schedule();
  // These tokens' keys and values are in the cache now.
  void computed(const std::vector<ScheduledTokens>& step);
  // The request goes on with this token.
  void append(RequestId id, int32_t token);
  // The request has ended or is aborted, waiting or running: it is gone at once, its row free.
  void remove(RequestId id);

  int64_t waiting() const { return static_cast<int64_t>(waiting_.size()); }
  int64_t running() const { return static_cast<int64_t>(running_.size()); }

  struct Sequence {
    std::vector<int32_t> ids;  // prompt and output so far
    int64_t computed = 0;      // of them, from the beginning on, those in the cache
    int64_t cached = 0;        // of the prompt, those that the row held already
    int64_t row = -1;          // of the cache; -1: it waits
  };
  // Precondition: it was added and not removed.
  const Sequence& sequence(RequestId id) const { return sequences_.at(id); }

 private:
  SchedulerLimits limits_;
  RowPool rows_;
  std::map<RequestId, Sequence> sequences_;
  std::deque<RequestId> waiting_;   // in order of arrival
  std::vector<RequestId> running_;  // in the same order
};

}  // namespace rung
