// Writes down what a scheduler does, step by step, for somebody who wants to see it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "engine/request.h"
#include "engine/scheduler.h"

namespace rung {

// The file is one JSON object: version (1), block_size, and steps. Each step holds, as the scheduler has
// settled it and before it is computed:
//   waiting    ids of requests, in the order in which they are served
//   preempted  those of them that have just lost their blocks
//   running    of each request: id, tokens (known so far), computed (of them, before this step), scheduled
//              (computed in this step), cached (of its prompt, found when it started), blocks (its table)
//   copies     blocks copied before the step: from, to
//   blocks     of each block of the pool: state (free, cached, used or shared), by (ids of its holders)
//   finished   requests that ended with the step: id, reason
// A last step without work shows what is left. Answer i of a request has the id of the request + i.
class Recorder {
 public:
  // Without a path nothing is recorded. Throws Error if the file cannot be written.
  explicit Recorder(const std::string& path);
  ~Recorder();

  bool wanted() const { return !path_.empty(); }
  void step(const Scheduler& scheduler, const std::vector<ScheduledTokens>& step);
  void ended(RequestId id, FinishReason reason);
  // Adds the last step and writes the file.
  void write(const Scheduler& scheduler);

 private:
  std::string path_;
  std::unique_ptr<nlohmann::ordered_json> record_;
  std::map<RequestId, int64_t> preemptions_;  // of each waiting request, when it was last seen
};

}  // namespace rung
