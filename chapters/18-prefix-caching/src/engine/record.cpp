#include "engine/record.h"

#include <fstream>

#include <nlohmann/json.hpp>

#include "rung/error.h"

namespace rung {

namespace {

using Json = nlohmann::ordered_json;

const char* state(const BlockPool& pool, int32_t block) {
  if (pool.holders(block) > 1) return "shared";
  if (pool.holders(block) == 1) return "used";
  return pool.published(block) ? "cached" : "free";
}

Json blocks_of(const Scheduler& scheduler) {
  const BlockPool& pool = scheduler.pool();
  Json blocks = Json::array();
  for (int32_t block = 0; block < pool.total(); ++block)
    blocks.push_back({{"state", state(pool, block)}, {"by", Json::array()}});
  for (const RequestId id : scheduler.running_requests()) {
    for (const int32_t block : scheduler.sequence(id).blocks)
      blocks[static_cast<size_t>(block)]["by"].push_back(id);
  }
  return blocks;
}

}  // namespace

Recorder::Recorder(const std::string& path) : path_(path), record_(std::make_unique<Json>()) {
  if (wanted() && !std::ofstream(path)) fail(path, ": cannot be written");
  *record_ = {{"version", 1}, {"block_size", 0}, {"steps", Json::array()}};
}

Recorder::~Recorder() = default;

void Recorder::step(const Scheduler& scheduler, const std::vector<ScheduledTokens>& step) {
  std::map<RequestId, int64_t> scheduled;
  for (const ScheduledTokens& tokens : step) scheduled[tokens.id] = tokens.count;
  Json preempted = Json::array(), running = Json::array(), copies = Json::array();
  for (const RequestId id : scheduler.waiting_requests()) {
    const int64_t preemptions = scheduler.sequence(id).preemptions;
    if (preemptions > preemptions_[id]) preempted.push_back(id);
    preemptions_[id] = preemptions;
  }
  for (const RequestId id : scheduler.running_requests()) {
    const Scheduler::Sequence& sequence = scheduler.sequence(id);
    running.push_back({{"id", id},
                       {"tokens", sequence.ids.size()},
                       {"computed", sequence.computed},
                       {"scheduled", scheduled[id]},
                       {"cached", sequence.cached},
                       {"blocks", sequence.blocks}});
  }
  if (!step.empty()) {
    for (const BlockCopy& copy : scheduler.copies()) copies.push_back({{"from", copy.from}, {"to", copy.to}});
  }
  (*record_)["steps"].push_back({{"waiting", scheduler.waiting_requests()},
                                 {"preempted", std::move(preempted)},
                                 {"running", std::move(running)},
                                 {"copies", std::move(copies)},
                                 {"blocks", blocks_of(scheduler)},
                                 {"finished", Json::array()}});
}

void Recorder::ended(RequestId id, FinishReason reason) {
  Json& steps = (*record_)["steps"];
  if (!steps.empty()) steps.back()["finished"].push_back({{"id", id}, {"reason", name(reason)}});
}

void Recorder::write(const Scheduler& scheduler) {
  if (!wanted()) return;
  step(scheduler, {});
  (*record_)["block_size"] = scheduler.pool().block_size();
  std::ofstream file(path_);
  file << record_->dump() << "\n";
  if (!file.flush()) fail(path_, ": cannot be written");
}

}  // namespace rung
