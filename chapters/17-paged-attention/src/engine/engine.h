// Many requests at once: they join and leave at any step, and every step is one forward pass over the tokens
// that the scheduler has chosen.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/answer.h"
#include "engine/request.h"
#include "engine/scheduler.h"
#include "engine/token_choice.h"
#include "model/transformer.h"
#include "tokenizer/tokenizer.h"

namespace rung {

// What a step brought for one request.
struct RequestOutput {
  RequestId id;
  std::string text;    // that has become certain
  bool ended = false;  // and if so:
  Generation result;
};

struct EngineFigures {
  int64_t steps = 0;
  int64_t computed = 0;     // tokens that went through the model
  int64_t preemptions = 0;  // requests that lost their blocks and were computed again
};

// An answer depends on its own request alone, whatever else runs: to the bit on Cpu and the emulator, and on
// a GPU if device.batch_invariant is set. Not for several threads at once.
template <class Device>
class Engine {
 public:
  // Runs as many requests at once as the transformer takes sequences and the cache has blocks for, with steps
  // of up to transformer.max_tokens() tokens.
  // Keeps all three by reference. Throws Error if the transformer has no space for so many requests.
  Engine(Transformer<Device>& transformer, KvCache& cache, const Tokenizer& tokenizer);

  // Takes a request. One that cannot be answered ends in the next step with FinishReason::error.
  RequestId add(GenerationRequest request);
  // Ends the request, if it has not ended, with what there is of its answer. Its blocks are free at once; its
  // output comes with the next step.
  void abort(RequestId id);
  // One forward pass, if there is anything to compute. What it brought, at most one entry a request.
  std::vector<RequestOutput> step();
  // No request is left, and no output.
  bool idle() const { return answers_.empty() && ended_.empty(); }

  const Scheduler& scheduler() const { return scheduler_; }
  const EngineFigures& figures() const { return figures_; }

 private:
  Batch batch_of(const std::vector<ScheduledTokens>& step) const;
  void leave(RequestId id, const std::string& text);

  Transformer<Device>& transformer_;
  KvCache& cache_;
  const Tokenizer& tokenizer_;
  Scheduler scheduler_;
  TokenChooser<Device> chooser_;
  std::map<RequestId, Answer> answers_;  // that have not ended
  std::vector<RequestOutput> ended_;     // those that have, until a step gives them back
  RequestId next_id_ = 0;
  EngineFigures figures_;
};

}  // namespace rung
