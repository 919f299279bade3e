// Many requests at once: they join and leave at any step, and every step is one forward pass over the tokens
// that the scheduler has chosen.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/answer.h"
#include "engine/request.h"
#include "engine/scheduler.h"
#include "engine/token_choice.h"
#include "model/transformer.h"
#include "tokenizer/tokenizer.h"

namespace rung {

// What a step brought for one answer to a request.
struct RequestOutput {
  RequestId id;
  int64_t answer;      // 0 … request.answers - 1
  std::string text;    // that has become certain
  bool ended = false;  // and if so:
  Generation result;
};

struct EngineFigures {
  int64_t steps = 0;
  int64_t computed = 0;     // tokens that went through the model
  int64_t cached = 0;       // tokens that did not, since a shared block held them
  int64_t preemptions = 0;  // requests that lost their blocks and were computed again
};

// Called with what is about to be computed.
using StepObserver =
    std::function<void(const Scheduler& scheduler, const std::vector<ScheduledTokens>& step)>;

// An answer depends on its own request alone, whatever else runs: to the bit on Cpu and the emulator, and on
// a GPU if device.batch_invariant is set. Not for several threads at once.
template <class Device>
class Engine {
 public:
  // Runs as many requests at once as the transformer takes sequences and the cache has blocks for, with steps
  // of up to transformer.max_tokens() tokens. Keeps all three by reference. Throws Error if the transformer
  // has no space for so many requests. hash: for tests that want collisions.
  Engine(Transformer<Device>& transformer, KvCache& cache, const Tokenizer& tokenizer,
         PrefixIndex::Hash hash = chained_hash);

  // Takes a request. One that cannot be answered ends in the next step with FinishReason::error. The
  // scheduler knows answer i as request id + i.
  RequestId add(GenerationRequest request);
  // Ends the request, if it has not ended, with what there is of its answers. Nobody has its blocks from now
  // on; its outputs come with the next step.
  void abort(RequestId id);
  // One forward pass, if there is anything to compute. What it brought, at most one entry an answer.
  std::vector<RequestOutput> step();
  // Has every step that computes something observed.
  void observe(StepObserver observer) { observer_ = std::move(observer); }
  // No request is left, and no output.
  bool idle() const { return answers_.empty() && ended_.empty(); }

  const Scheduler& scheduler() const { return scheduler_; }
  const EngineFigures& figures() const { return figures_; }

 private:
  struct Growing {
    RequestId request;
    Answer answer;
  };
  Batch batch_of(const std::vector<ScheduledTokens>& step) const;
  void leave(RequestId id, const std::string& text);

  Transformer<Device>& transformer_;
  KvCache& cache_;
  const Tokenizer& tokenizer_;
  Scheduler scheduler_;
  TokenChooser<Device> chooser_;
  StepObserver observer_;
  std::map<RequestId, Growing> answers_;  // that have not ended, by the scheduler's ids
  std::vector<RequestOutput> ended_;      // those that have, until a step gives them back
  RequestId next_id_ = 0;
  EngineFigures figures_;
};

}  // namespace rung
