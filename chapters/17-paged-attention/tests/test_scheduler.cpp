// The scheduler against a model of it: thousands of random schedules with pools so small that requests lose
// their blocks, invariants after every step, and a cache of token ids that shows whether every request would
// read its own keys.
#include "engine/scheduler.h"

#include <algorithm>
#include <random>
#include <set>

#include "rung/error.h"
#include "testing/catch.h"

namespace rung {
namespace {

using Ids = std::vector<int32_t>;

// What a model would say next: any function of the tokens that its blocks hold.
int32_t next_token(const Ids& seen) {
  uint32_t hash = 17;
  for (const int32_t id : seen) hash = hash * 31 + static_cast<uint32_t>(id);
  return static_cast<int32_t>(hash >> 8 & 3);
}

Ids answer_alone(Ids ids, size_t tokens) {
  Ids answer;
  for (size_t i = 0; i < tokens; ++i) {
    answer.push_back(next_token(ids));
    ids.push_back(answer.back());
  }
  return answer;
}

struct Plan {
  Ids prompt;
  size_t tokens;           // of the answer
  int64_t arrival, abort;  // steps; abort -1: never
  Ids answer;
  bool arrived = false, started = false, ended = false;
};

// One random schedule to its end. Returns an empty text, or what was wrong.
class Simulation {
 public:
  Simulation(uint32_t seed) : random_(seed) {
    limits_.running = uniform(1, 5);
    limits_.step_tokens = limits_.running + uniform(0, 12);
    const int64_t requests = uniform(1, 14);
    for (int64_t i = 0; i < requests; ++i) {
      Plan plan;
      plan.prompt.resize(static_cast<size_t>(uniform(1, uniform(1, 4) == 1 ? 40 : 8)));
      for (int32_t& id : plan.prompt) id = static_cast<int32_t>(uniform(0, 1));  // shared beginnings abound
      plan.tokens = static_cast<size_t>(uniform(1, 10));
      plan.arrival = uniform(0, 12);
      plan.abort = uniform(0, 4) == 0 ? plan.arrival + uniform(0, 10) : -1;
      plans_.push_back(std::move(plan));
    }
    std::sort(plans_.begin(), plans_.end(),
              [](const Plan& a, const Plan& b) { return a.arrival < b.arrival; });
    // Enough for the longest request alone; often for little more.
    limits_.blocks = {1, uniform(1, 5)};
    for (const Plan& plan : plans_) {
      const auto longest = static_cast<int64_t>(plan.prompt.size() + plan.tokens) - 1;
      limits_.blocks.count =
          std::max(limits_.blocks.count, (longest + limits_.blocks.size - 1) / limits_.blocks.size);
    }
    limits_.blocks.count += uniform(0, 8);
  }

  void run() {
    Scheduler scheduler(limits_);
    Ids slots(static_cast<size_t>(limits_.blocks.count * limits_.blocks.size), -1);
    const auto slot = [&](const std::vector<int32_t>& blocks, int64_t position) -> int32_t& {
      const int64_t block = blocks.at(static_cast<size_t>(position / limits_.blocks.size));
      return slots[static_cast<size_t>(block * limits_.blocks.size + position % limits_.blocks.size)];
    };
    int64_t work = 0;
    for (const Plan& plan : plans_) work += static_cast<int64_t>(plan.prompt.size() + plan.tokens);
    for (int64_t now = 0; !all_ended(); ++now) {
      REQUIRE(now <= 10 * work + 12);  // nobody waits for ever
      for (size_t i = 0; i < plans_.size(); ++i) {
        Plan& plan = plans_[i];
        if (plan.arrival == now) scheduler.add(static_cast<RequestId>(i), plan.prompt), plan.arrived = true;
        if (plan.abort == now && !plan.ended) scheduler.remove(static_cast<RequestId>(i)), plan.ended = true;
      }
      const std::vector<ScheduledTokens> step = scheduler.schedule();
      check(scheduler, step);
      for (const ScheduledTokens& part : step) {
        const Scheduler::Sequence& sequence = scheduler.sequence(part.id);
        for (int64_t p = part.begin; p < part.begin + part.count; ++p)
          slot(sequence.blocks, p) = sequence.ids[static_cast<size_t>(p)];
      }
      scheduler.computed(step);
      for (const ScheduledTokens& part : step) {
        if (!part.wants_token) continue;
        Plan& plan = plans_[static_cast<size_t>(part.id)];
        const Scheduler::Sequence& sequence = scheduler.sequence(part.id);
        Ids seen;
        for (int64_t p = 0; p < part.begin + part.count; ++p) seen.push_back(slot(sequence.blocks, p));
        REQUIRE(seen == sequence.ids);  // no other request's keys among them
        plan.answer.push_back(next_token(seen));
        if (plan.answer.size() == plan.tokens) {
          scheduler.remove(part.id);
          plan.ended = true;
        } else {
          scheduler.append(part.id, plan.answer.back());
        }
      }
    }
    REQUIRE(scheduler.running() == 0);
    REQUIRE(scheduler.waiting() == 0);
    REQUIRE(scheduler.pool().free() == limits_.blocks.count);  // all blocks have come back
    preemptions = scheduler.preemptions();
    for (const Plan& plan : plans_) {
      const Ids alone = answer_alone(plan.prompt, plan.tokens);
      if (plan.abort < 0) REQUIRE(plan.answer == alone);
      REQUIRE(std::equal(plan.answer.begin(), plan.answer.end(), alone.begin()));
    }
  }

  int64_t preemptions = 0;

 private:
  int64_t uniform(int64_t least, int64_t most) {
    return least + static_cast<int64_t>(random_() % static_cast<uint32_t>(most - least + 1));
  }
  bool all_ended() const {
    return std::all_of(plans_.begin(), plans_.end(), [](const Plan& plan) { return plan.ended; });
  }

  void check(const Scheduler& scheduler, const std::vector<ScheduledTokens>& step) {
    int64_t tokens = 0, waiting = 0;
    std::set<RequestId> ids;
    std::set<int32_t> blocks;
    REQUIRE(scheduler.pool().free() + scheduler.pool().used() == scheduler.pool().total());
    for (const ScheduledTokens& part : step) {
      const Scheduler::Sequence& sequence = scheduler.sequence(part.id);
      const auto length = static_cast<int64_t>(sequence.ids.size());
      tokens += part.count;
      REQUIRE(part.count > 0);
      REQUIRE(part.begin == sequence.computed);
      REQUIRE(part.begin + part.count <= length);
      REQUIRE(part.wants_token == (part.begin + part.count == length));
      REQUIRE(part.begin + part.count <= static_cast<int64_t>(sequence.blocks.size()) * limits_.blocks.size);
      REQUIRE(ids.insert(part.id).second);
      plans_[static_cast<size_t>(part.id)].started = true;
    }
    REQUIRE(tokens <= limits_.step_tokens);
    bool one_waits = false, a_prompt_waits = false;
    int64_t running = 0, needed = 0;
    for (size_t i = 0; i < plans_.size(); ++i) {
      if (!plans_[i].arrived || plans_[i].ended) continue;
      const Scheduler::Sequence& sequence = scheduler.sequence(static_cast<RequestId>(i));
      if (sequence.blocks.empty()) {
        if (!one_waits) needed = scheduler.pool().needed(static_cast<int64_t>(sequence.ids.size()));
        ++waiting;
        one_waits = true;
        continue;
      }
      REQUIRE_FALSE(one_waits);    // nobody overtakes
      REQUIRE(plans_[i].started);  // blocks are taken with the first tokens, not before
      for (const int32_t block : sequence.blocks) {
        REQUIRE((block >= 0 && block < limits_.blocks.count));
        REQUIRE(blocks.insert(block).second);  // in one table only
      }
      ++running;
      const bool served = ids.count(static_cast<RequestId>(i)) > 0;
      const bool decodes = static_cast<int64_t>(sequence.ids.size()) - sequence.computed == 1;
      if (decodes && sequence.ids.size() > plans_[i].prompt.size()) REQUIRE(served);
      if (!decodes) {
        if (served) REQUIRE_FALSE(a_prompt_waits);  // prompts in the order of their arrival
        if (!served) a_prompt_waits = true;
      }
    }
    REQUIRE(running == scheduler.running());
    REQUIRE(waiting == scheduler.waiting());
    REQUIRE(scheduler.pool().used() == static_cast<int64_t>(blocks.size()));
    // Whoever waits does so for lack of blocks or of budget, or because enough others run.
    if (waiting > 0) {
      REQUIRE(
          (running == limits_.running || tokens == limits_.step_tokens || needed > scheduler.pool().free()));
    }
    if (running > 0) REQUIRE(tokens > 0);
  }

  std::mt19937 random_;
  SchedulerLimits limits_{};
  std::vector<Plan> plans_;
};

// Written as request:first+count, a * where a token is wanted.
std::string text(const std::vector<ScheduledTokens>& step) {
  std::string result;
  for (const ScheduledTokens& part : step) {
    result += (result.empty() ? "" : " ") + std::to_string(part.id) + ":" + std::to_string(part.begin) + "+" +
              std::to_string(part.count) + (part.wants_token ? "*" : "");
  }
  return result;
}

TEST_CASE("scheduler: a schedule worked out by hand") {
  Scheduler scheduler({6, 2, {64, 4}});
  const auto step = [&] {
    const std::vector<ScheduledTokens> chosen = scheduler.schedule();
    scheduler.computed(chosen);
    for (const ScheduledTokens& part : chosen) {
      if (part.wants_token) scheduler.append(part.id, 50);
    }
    return text(chosen);
  };
  CHECK(step() == "");
  scheduler.add(1, {11, 12, 13});
  scheduler.add(2, {21, 22, 23, 24, 25, 26, 27, 28});
  scheduler.add(3, {31, 32});
  CHECK(step() == "1:0+3* 2:0+3");  // the second prompt takes what the first leaves
  CHECK(scheduler.waiting() == 1);
  CHECK(step() == "1:3+1* 2:3+5*");  // whoever writes goes first
  CHECK(step() == "1:4+1* 2:8+1*");
  scheduler.remove(1);
  CHECK(scheduler.running() == 1);
  CHECK(step() == "2:9+1* 3:0+2*");  // its place is free at once
  scheduler.remove(3);
  scheduler.remove(2);
  scheduler.add(4, {31, 32, 33});
  CHECK(step() == "4:2+1*");  // two tokens of request 3 are still there
  CHECK(scheduler.sequence(4).cached == 2);
}

TEST_CASE("scheduler: a request starts with its first tokens, not before") {
  Scheduler scheduler({4, 2, {64, 4}});
  scheduler.add(1, Ids(10, 7));
  scheduler.add(2, Ids(3, 8));
  const auto step = [&] {
    const std::vector<ScheduledTokens> chosen = scheduler.schedule();
    scheduler.computed(chosen);
    return text(chosen);
  };
  CHECK(step() == "1:0+4");
  CHECK(scheduler.running() == 1);
  CHECK(scheduler.waiting() == 1);  // there are blocks for request 2, but no token
  CHECK(step() == "1:4+4");
  CHECK(scheduler.waiting() == 1);
  CHECK(step() == "1:8+2* 2:0+2");
  CHECK(scheduler.waiting() == 0);
}

TEST_CASE("scheduler: prompts go on in the order in which they came, behind whoever writes") {
  Scheduler scheduler({5, 3, {64, 4}});
  const auto step = [&] {
    const std::vector<ScheduledTokens> chosen = scheduler.schedule();
    scheduler.computed(chosen);
    for (const ScheduledTokens& part : chosen) {
      if (part.wants_token) scheduler.append(part.id, 50);
    }
    return text(chosen);
  };
  scheduler.add(1, Ids(7, 1));
  scheduler.add(2, Ids(6, 2));
  CHECK(step() == "1:0+5");
  scheduler.add(3, Ids(4, 3));
  CHECK(step() == "1:5+2* 2:0+3");
  CHECK(step() == "1:7+1* 2:3+3* 3:0+1");
  CHECK(step() == "1:8+1* 2:6+1* 3:1+3*");
  scheduler.add(4, Ids(1, 4));
  CHECK(step() == "1:9+1* 2:7+1* 3:4+1*");  // two tokens are left, but three requests run
  CHECK(scheduler.waiting() == 1);
}

TEST_CASE("scheduler: the youngest gives up its blocks when the pool is empty, and goes on later") {
  Scheduler scheduler({16, 3, {5, 4}});  // a pool of five blocks of four tokens
  std::vector<ScheduledTokens> chosen;
  const auto step = [&] {
    chosen = scheduler.schedule();
    scheduler.computed(chosen);
    for (const ScheduledTokens& part : chosen) {
      if (part.wants_token) scheduler.append(part.id, 50);
    }
    return text(chosen);
  };
  scheduler.add(1, {11, 12, 13, 14, 15, 16, 17});  // two blocks
  scheduler.add(2, {21, 22});                      // one
  scheduler.add(3, {31, 32, 33});                  // one
  CHECK(step() == "1:0+7* 2:0+2* 3:0+3*");
  CHECK(scheduler.pool().free() == 1);
  CHECK(step() == "1:7+1* 2:2+1* 3:3+1*");
  CHECK(step() ==
        "1:8+1* 2:3+1*");  // request 1 has its third block; 3 needs a second and gives up its only one
  CHECK(scheduler.sequence(3).preemptions == 1);
  CHECK(scheduler.pool().free() == 1);
  CHECK(step() == "1:9+1* 2:4+1*");  // that goes to request 2
  CHECK(scheduler.pool().free() == 0);
  for (int i = 0; i < 2; ++i) step();
  CHECK(step() == "1:12+1*");  // a fourth block for request 1: request 2 has lost its two
  CHECK(scheduler.sequence(2).preemptions == 1);
  CHECK(scheduler.preemptions() == 2);
  CHECK(scheduler.pool().free() == 1);
  CHECK(scheduler.waiting() == 2);
  scheduler.remove(1);
  CHECK(step() == "2:4+4* 3:0+5*");  // in the old order; the first block of request 2 was still there
  CHECK(scheduler.sequence(2).cached == 0);
  CHECK_THROWS_WITH(scheduler.add(4, Ids(21, 1)),
                    Catch::Contains("21 tokens") && Catch::Contains("space for 20"));
}

TEST_CASE("scheduler: a request waits until the pool has blocks for all of its tokens") {
  Scheduler scheduler({16, 3, {3, 4}});  // a pool of three blocks of four tokens
  const auto step = [&] {
    const std::vector<ScheduledTokens> chosen = scheduler.schedule();
    scheduler.computed(chosen);
    return text(chosen);
  };
  scheduler.add(1, {11, 12, 13, 14, 15, 16, 17});  // two blocks
  scheduler.add(2, {21, 22, 23, 24, 25});          // two as well
  CHECK(step() == "1:0+7*");
  CHECK(scheduler.waiting() == 1);
  scheduler.remove(1);
  scheduler.add(3, {11, 12, 13, 14, 15, 16, 99});
  CHECK(step() == "2:0+5*");
  CHECK(scheduler.waiting() == 1);
  scheduler.remove(2);
  CHECK(step() == "3:4+3*");  // the first block of request 1 is still there
  CHECK(scheduler.sequence(3).cached == 4);
}

TEST_CASE("scheduler: a request leaves while it waits, and in the middle of its prompt") {
  Scheduler scheduler({4, 1, {64, 4}});
  scheduler.add(1, Ids(10, 7));
  scheduler.add(2, Ids(3, 8));
  scheduler.add(3, Ids(3, 9));
  std::vector<ScheduledTokens> step = scheduler.schedule();
  CHECK(text(step) == "1:0+4");
  scheduler.computed(step);
  scheduler.remove(2);
  scheduler.remove(1);
  CHECK(text(scheduler.schedule()) == "3:0+3*");
  CHECK(scheduler.waiting() == 0);
}

TEST_CASE("scheduler: limits that make no sense are refused") {
  CHECK_THROWS_WITH(Scheduler({4, 0, {1, 1}}), Catch::Contains("0 requests"));
  CHECK_THROWS_WITH(Scheduler({4, 5, {1, 1}}), Catch::Contains("4 tokens for 5 requests"));
  CHECK_THROWS_WITH(Scheduler({4, 4, {0, 1}}), Catch::Contains("no blocks"));
  CHECK_NOTHROW(Scheduler({5, 5, {1, 1}}));
}

TEST_CASE(
    "scheduler: 5,000 random schedules keep every invariant, end, and give each request its own answer") {
  int64_t preemptions = 0;
  for (uint32_t seed = 0; seed < 5000; ++seed) {
    CAPTURE(seed);
    Simulation simulation(seed);
    simulation.run();
    preemptions += simulation.preemptions;
  }
  CHECK(preemptions > 1000);
}

}  // namespace
}  // namespace rung
