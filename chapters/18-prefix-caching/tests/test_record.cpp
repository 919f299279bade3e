// The recording of a schedule, compared with the same schedule worked out by hand.
#include "engine/record.h"

#include <fstream>

#include <nlohmann/json.hpp>

#include "rung/error.h"
#include "testing/catch.h"
#include "testing/fixture.h"

namespace rung {
namespace {

using nlohmann::json;

// A letter for each block: free, cached, used or shared.
std::string states(const json& step) {
  std::string text;
  for (const auto& block : step.at("blocks")) text += block.at("state").get<std::string>()[0];
  return text;
}

TEST_CASE("record: a pool of five blocks, two answers to one prompt, and a preemption") {
  const testing::TemporaryFolder folder;
  const std::string path = folder.write("record.json", "");
  Recorder recorder(path);
  REQUIRE(recorder.wanted());
  Scheduler scheduler({16, 3, {5, 2}});
  scheduler.add(1, {11, 12, 13}, 2);  // two blocks; the second answer has the id 2
  scheduler.add(4, {41, 42, 43, 44});
  const auto step = [&] {
    const std::vector<ScheduledTokens> chosen = scheduler.schedule();
    recorder.step(scheduler, chosen);
    scheduler.computed(chosen);
    for (const ScheduledTokens& part : chosen) {
      for (RequestId id = part.id; part.wants_token && id <= part.id + part.forks; ++id)
        scheduler.append(id, static_cast<int32_t>(50 + id));
    }
  };
  step();
  step();
  step();
  scheduler.remove(1);
  recorder.ended(1, FinishReason::stop);
  for (const RequestId id : {2, 4}) {
    scheduler.remove(id);
    recorder.ended(id, FinishReason::aborted);
  }
  recorder.write(scheduler);

  std::ifstream file(path);
  const json record = json::parse(file);
  CHECK(record.at("version") == 1);
  CHECK(record.at("block_size") == 2);
  const json& steps = record.at("steps");
  REQUIRE(steps.size() == 4);

  CHECK(steps[0].at("waiting").empty());
  CHECK(steps[0].at("running") == json::parse(R"([
      {"id": 1, "tokens": 3, "computed": 0, "scheduled": 3, "cached": 0, "blocks": [0, 1]},
      {"id": 4, "tokens": 4, "computed": 0, "scheduled": 4, "cached": 0, "blocks": [2, 3]}])"));
  CHECK(states(steps[0]) == "uuuuf");
  CHECK(steps[0].at("copies").empty());

  // Answers 1 and 2 share blocks 0 and 1; 1 writes first and copies; then there is no block for 4.
  CHECK(steps[1].at("copies") == json::parse(R"([{"from": 1, "to": 4}])"));
  CHECK(steps[1].at("running") == json::parse(R"([
      {"id": 1, "tokens": 4, "computed": 3, "scheduled": 1, "cached": 0, "blocks": [0, 4]},
      {"id": 2, "tokens": 4, "computed": 3, "scheduled": 1, "cached": 0, "blocks": [0, 1]}])"));
  CHECK(steps[1].at("waiting") == json::parse("[4]"));
  CHECK(steps[1].at("preempted") == json::parse("[4]"));
  CHECK(steps[1].at("blocks")[0] == json::parse(R"({"state": "shared", "by": [1, 2]})"));
  CHECK(steps[1].at("blocks")[4] == json::parse(R"({"state": "used", "by": [1]})"));
  CHECK(states(steps[1]) == "succu");

  CHECK(steps[2].at("preempted").empty());  // it still waits
  CHECK(steps[2].at("waiting") == json::parse("[4]"));
  CHECK(states(steps[2]) == "suuuu");
  CHECK(
      steps[2].at("finished") ==
      json::parse(
          R"([{"id": 1, "reason": "stop"}, {"id": 2, "reason": "aborted"}, {"id": 4, "reason": "aborted"}])"));

  CHECK(steps[3].at("running").empty());
  CHECK(states(steps[3]) == "ccffc");
}

TEST_CASE("record: nothing is recorded without a path, and a file that cannot be written is an error") {
  Recorder nothing("");
  CHECK_FALSE(nothing.wanted());
  CHECK_NOTHROW(nothing.write(Scheduler({1, 1, {1, 1}})));
  CHECK_THROWS_WITH(Recorder("/no/such/folder/record.json"), Catch::Contains("/no/such/folder/record.json"));
}

}  // namespace
}  // namespace rung
