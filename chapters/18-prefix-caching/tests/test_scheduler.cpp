// The scheduler against a model of it: thousands of random schedules with shared beginnings, several answers
// to a prompt, pools so small that requests lose their blocks, and hashes that collide; invariants after
// every step, and a cache that shows whether every request would read its own keys.
#include "engine/scheduler.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "rung/error.h"
#include "testing/catch.h"

namespace rung {
namespace {

using Ids = std::vector<int32_t>;

// What a layer keeps of a token: like its keys and values it depends on the token and on all before it.
uint32_t kept(uint32_t before, int32_t id) {
  return (before * 31 + static_cast<uint32_t>(id) + 1) * 2654435761u;
}

// What the model says next in the given answer to a prompt, when it has seen the last token's keys.
int32_t next_token(uint32_t last, int64_t answer) {
  return static_cast<int32_t>((last >> 8 ^ static_cast<uint32_t>(answer)) & 3);
}

Ids answer_alone(const Ids& prompt, int64_t answer, size_t tokens) {
  uint32_t last = 0;
  for (const int32_t id : prompt) last = kept(last, id);
  Ids ids;
  while (ids.size() < tokens) {
    ids.push_back(next_token(last, answer));
    last = kept(last, ids.back());
  }
  return ids;
}

uint64_t no_hash(uint64_t, Span<const int32_t>) {
  return 7;
}
uint64_t one_bit(uint64_t parent, Span<const int32_t> tokens) {
  return chained_hash(parent, tokens) >> 20 & 1;
}

constexpr int64_t kMostAnswers = 3;  // request i has the ids kMostAnswers * i and those behind

struct Plan {
  Ids prompt;
  size_t tokens;           // of each answer
  int64_t count;           // of answers
  int64_t arrival, abort;  // steps; abort -1: never
  std::vector<Ids> answers;
  std::set<int64_t> live;  // answers that have begun and not ended
  bool arrived = false, started = false, begun = false, aborted = false;

  bool ended() const { return aborted || (begun && live.empty()); }
};

// One random schedule to its end.
class Simulation {
 public:
  Simulation(uint32_t seed) : random_(seed) {
    limits_.running = uniform(1, 5);
    limits_.step_tokens = limits_.running + uniform(0, 12);
    limits_.blocks = {1, uniform(1, 5)};
    const int64_t requests = uniform(1, 14);
    const Ids beginning = random_ids(uniform(0, 12));
    for (int64_t i = 0; i < requests; ++i) {
      Plan plan;
      if (uniform(0, 1) == 0) plan.prompt = beginning;
      const Ids rest = random_ids(uniform(1, uniform(1, 4) == 1 ? 40 : 8));
      plan.prompt.insert(plan.prompt.end(), rest.begin(), rest.end());
      plan.tokens = static_cast<size_t>(uniform(1, 10));
      plan.count = uniform(0, 2) == 0 ? uniform(1, std::min(kMostAnswers, limits_.running)) : 1;
      plan.answers.resize(static_cast<size_t>(plan.count));
      plan.arrival = uniform(0, 12);
      plan.abort = uniform(0, 4) == 0 ? plan.arrival + uniform(0, 10) : -1;
      // Enough for the longest request alone; often for little more.
      const auto longest = static_cast<int64_t>(plan.prompt.size() + plan.tokens) - 1;
      limits_.blocks.count =
          std::max(limits_.blocks.count, (longest + limits_.blocks.size - 1) / limits_.blocks.size);
      plans_.push_back(std::move(plan));
    }
    std::sort(plans_.begin(), plans_.end(),
              [](const Plan& a, const Plan& b) { return a.arrival < b.arrival; });
    limits_.blocks.count += uniform(0, 8);
    const PrefixIndex::Hash hashes[] = {chained_hash, no_hash, one_bit};
    hash_ = hashes[seed % 3];
  }

  void run() {
    Scheduler scheduler(limits_, hash_);
    std::vector<uint32_t> slots(static_cast<size_t>(limits_.blocks.count * limits_.blocks.size));
    const auto slot = [&](const std::vector<int32_t>& blocks, int64_t position) -> uint32_t& {
      const int64_t block = blocks.at(static_cast<size_t>(position / limits_.blocks.size));
      return slots[static_cast<size_t>(block * limits_.blocks.size + position % limits_.blocks.size)];
    };
    int64_t work = 0;
    for (const Plan& plan : plans_)
      work += static_cast<int64_t>(plan.prompt.size() + plan.tokens) * plan.count;
    for (int64_t now = 0; !all_ended(); ++now) {
      REQUIRE(now <= 10 * work + 12);  // nobody waits for ever
      for (size_t i = 0; i < plans_.size(); ++i) {
        Plan& plan = plans_[i];
        if (plan.arrival == now) scheduler.add(id_of(i, 0), plan.prompt, plan.count), plan.arrived = true;
        if (plan.abort == now && !plan.ended()) {
          for (int64_t answer = 0; answer < plan.count; ++answer) {
            if (!plan.begun || plan.live.count(answer) > 0) scheduler.remove(id_of(i, answer));
          }
          plan.aborted = true;
        }
      }
      const std::vector<ScheduledTokens> step = scheduler.schedule();
      check(scheduler, step);
      for (const BlockCopy& copy : scheduler.copies()) {
        std::copy_n(slots.begin() + copy.from * limits_.blocks.size, limits_.blocks.size,
                    slots.begin() + copy.to * limits_.blocks.size);
        ++copies;
      }
      for (const ScheduledTokens& part : step) {
        const Scheduler::Sequence& sequence = scheduler.sequence(part.id);
        for (int64_t p = part.begin; p < part.begin + part.count; ++p) {
          const uint32_t before = p == 0 ? 0 : slot(sequence.blocks, p - 1);
          slot(sequence.blocks, p) = kept(before, sequence.ids[static_cast<size_t>(p)]);
        }
      }
      scheduler.computed(step);
      for (const ScheduledTokens& part : step) {
        for (int64_t i = 0; part.wants_token && i <= part.forks; ++i) {
          const RequestId id = part.id + i;
          const auto answer = id % kMostAnswers;
          Plan& plan = plans_[static_cast<size_t>(id / kMostAnswers)];
          const Scheduler::Sequence& sequence = scheduler.sequence(id);
          uint32_t last = 0;
          for (int64_t p = 0; p < sequence.computed; ++p) {
            last = kept(last, sequence.ids[static_cast<size_t>(p)]);
            REQUIRE(slot(sequence.blocks, p) == last);  // its own keys, and nobody else's
          }
          if (!plan.begun || part.forks > 0) plan.live.insert(answer);
          Ids& ids = plan.answers[static_cast<size_t>(answer)];
          ids.push_back(next_token(last, answer));
          if (ids.size() == plan.tokens) {
            scheduler.remove(id);
            plan.live.erase(answer);
          } else {
            scheduler.append(id, ids.back());
          }
        }
        if (part.wants_token) plans_[static_cast<size_t>(part.id / kMostAnswers)].begun = true;
      }
    }
    REQUIRE(scheduler.running() == 0);
    REQUIRE(scheduler.waiting() == 0);
    REQUIRE(scheduler.pool().used() == 0);  // all blocks have come back
    REQUIRE(scheduler.pool().available() == limits_.blocks.count);
    preemptions = scheduler.preemptions();
    cached = scheduler.cached();
    for (const Plan& plan : plans_) {
      for (int64_t i = 0; i < plan.count; ++i) {
        const Ids alone = answer_alone(plan.prompt, i, plan.tokens),
                  &answer = plan.answers[static_cast<size_t>(i)];
        if (plan.abort < 0) REQUIRE(answer == alone);
        REQUIRE(std::equal(answer.begin(), answer.end(), alone.begin()));
      }
    }
  }

  int64_t preemptions = 0, cached = 0, copies = 0;

 private:
  static RequestId id_of(size_t plan, int64_t answer) {
    return static_cast<RequestId>(plan) * kMostAnswers + answer;
  }
  int64_t uniform(int64_t least, int64_t most) {
    return least + static_cast<int64_t>(random_() % static_cast<uint32_t>(most - least + 1));
  }
  Ids random_ids(int64_t count) {
    Ids ids(static_cast<size_t>(count));
    for (int32_t& id : ids) id = static_cast<int32_t>(uniform(0, 1));  // shared beginnings abound
    return ids;
  }
  bool all_ended() const {
    return std::all_of(plans_.begin(), plans_.end(), [](const Plan& plan) { return plan.ended(); });
  }

  void check(const Scheduler& scheduler, const std::vector<ScheduledTokens>& step) {
    const BlockPool& pool = scheduler.pool();
    int64_t tokens = 0;
    std::set<RequestId> served;
    REQUIRE(pool.free() + pool.cached() + pool.used() == pool.total());
    for (const ScheduledTokens& part : step) {
      const Scheduler::Sequence& sequence = scheduler.sequence(part.id);
      const auto length = static_cast<int64_t>(sequence.ids.size()), end = part.begin + part.count;
      tokens += part.count;
      REQUIRE(part.count > 0);
      REQUIRE(part.begin == sequence.computed);
      REQUIRE(end <= length);
      REQUIRE(part.wants_token == (end == length));
      REQUIRE(part.forks == (part.wants_token ? sequence.forks : 0));
      REQUIRE(end <= static_cast<int64_t>(sequence.blocks.size()) * limits_.blocks.size);
      REQUIRE(served.insert(part.id).second);
      plans_[static_cast<size_t>(part.id / kMostAnswers)].started = true;
      for (int64_t b = part.begin / limits_.blocks.size; b * limits_.blocks.size < end; ++b) {
        const int32_t block = sequence.blocks[static_cast<size_t>(b)];
        REQUIRE(pool.holders(block) == 1);  // nobody else reads what is written
        REQUIRE_FALSE(pool.published(block));
      }
    }
    REQUIRE(tokens <= limits_.step_tokens);

    bool one_waits = false, a_prompt_waits = false;
    int64_t running = 0, waiting = 0, claimed = 0, needed = 0, wanted = 0;
    std::map<int32_t, int64_t> holders;
    std::map<int32_t, std::pair<size_t, const Scheduler::Sequence*>> place;
    for (size_t i = 0; i < plans_.size(); ++i) {
      const Plan& plan = plans_[i];
      if (!plan.arrived || plan.ended()) continue;
      for (int64_t answer = 0; answer < plan.count; ++answer) {
        if (plan.begun ? plan.live.count(answer) == 0 : answer > 0) continue;
        const RequestId id = id_of(i, answer);
        const Scheduler::Sequence& sequence = scheduler.sequence(id);
        if (sequence.blocks.empty()) {
          if (!one_waits) {
            needed = pool.needed(static_cast<int64_t>(sequence.ids.size()));
            wanted = 1 + sequence.forks;
          }
          ++waiting;
          one_waits = true;
          continue;
        }
        REQUIRE_FALSE(one_waits);  // nobody overtakes
        REQUIRE(plan.started);     // blocks are taken with the first tokens, not before
        claimed += 1 + sequence.forks;
        ++running;
        for (size_t b = 0; b < sequence.blocks.size(); ++b) {
          const int32_t block = sequence.blocks[b];
          REQUIRE((block >= 0 && block < pool.total()));
          if (++holders[block] == 1) place[block] = {b, &sequence};
          // Shared by sequences that are the same up to there.
          const auto& [other_b, other] = place[block];
          const auto end = std::min({(b + 1) * static_cast<size_t>(limits_.blocks.size), sequence.ids.size(),
                                     other->ids.size(),
                                     static_cast<size_t>(std::max(sequence.computed, other->computed))});
          REQUIRE(other_b == b);
          REQUIRE(std::equal(sequence.ids.begin(), sequence.ids.begin() + static_cast<std::ptrdiff_t>(end),
                             other->ids.begin()));
          REQUIRE(pool.published(block) == (static_cast<int64_t>(b) < sequence.published));
        }
        REQUIRE(sequence.published == sequence.computed / limits_.blocks.size);
        const bool gets = served.count(id) > 0;
        const bool writes = static_cast<int64_t>(sequence.ids.size()) - sequence.computed == 1;
        if (writes && sequence.ids.size() > plan.prompt.size()) REQUIRE(gets);
        if (!writes) {
          if (gets) REQUIRE_FALSE(a_prompt_waits);  // prompts in the order of their arrival
          if (!gets) a_prompt_waits = true;
        }
      }
    }
    REQUIRE(running == scheduler.running());
    REQUIRE(waiting == scheduler.waiting());
    REQUIRE(claimed <= limits_.running);
    REQUIRE(pool.used() == static_cast<int64_t>(holders.size()));
    for (const auto& [block, count] : holders) REQUIRE(pool.holders(block) == count);
    // Whoever waits does so for lack of blocks or of budget, or because enough others run.
    if (waiting > 0) {
      REQUIRE(
          (claimed + wanted > limits_.running || tokens == limits_.step_tokens || needed > pool.available()));
    }
    if (running > 0) REQUIRE(tokens > 0);
  }

  std::mt19937 random_;
  SchedulerLimits limits_{};
  PrefixIndex::Hash hash_;
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
  scheduler.add(4, {21, 22, 23, 24, 25, 26, 27, 28});
  CHECK(step() == "4:4+4*");  // the first block of request 2 is still there, and the last token is computed
  CHECK(scheduler.sequence(4).cached == 4);
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
  CHECK(scheduler.pool().available() == 1);
  CHECK(step() == "1:7+1* 2:2+1* 3:3+1*");
  CHECK(step() ==
        "1:8+1* 2:3+1*");  // request 1 has its third block; 3 needs a second and gives up its only one
  CHECK(scheduler.sequence(3).preemptions == 1);
  CHECK(scheduler.pool().available() == 1);
  CHECK(step() == "1:9+1* 2:4+1*");  // that goes to request 2
  CHECK(scheduler.pool().available() == 0);
  for (int i = 0; i < 2; ++i) step();
  CHECK(step() == "1:12+1*");  // a fourth block for request 1: request 2 has lost its two
  CHECK(scheduler.sequence(2).preemptions == 1);
  CHECK(scheduler.preemptions() == 2);
  CHECK(scheduler.pool().available() == 1);
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

TEST_CASE("scheduler: full blocks are published when they are computed, and shared from then on") {
  Scheduler scheduler({10, 3, {16, 4}});
  const Ids prompt = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
  scheduler.add(1, prompt);
  std::vector<ScheduledTokens> chosen = scheduler.schedule();
  CHECK(text(chosen) == "1:0+10");
  const Ids blocks = scheduler.sequence(1).blocks;
  CHECK_FALSE(scheduler.pool().published(blocks[0]));
  scheduler.computed(chosen);
  CHECK(scheduler.pool().published(blocks[0]));
  CHECK(scheduler.pool().published(blocks[1]));
  CHECK_FALSE(scheduler.pool().published(blocks[2]));  // all of its tokens are known, two are computed
  CHECK_FALSE(scheduler.pool().published(blocks[3]));
  scheduler.add(2, {1, 2, 3, 4, 5, 6, 7, 9});
  scheduler.add(3, prompt);
  chosen = scheduler.schedule();
  CHECK(text(chosen) == "1:10+4* 2:4+4* 3:8+2");
  CHECK(scheduler.sequence(2).blocks[0] == blocks[0]);
  CHECK(scheduler.sequence(3).blocks[1] == blocks[1]);
  CHECK(scheduler.sequence(3).blocks[2] != blocks[2]);
  CHECK(scheduler.pool().holders(blocks[0]) == 3);
  CHECK(scheduler.pool().holders(blocks[1]) == 2);
  CHECK(scheduler.cached() == 12);
}

TEST_CASE("scheduler: full blocks that two requests have computed at once become one") {
  Scheduler scheduler({16, 2, {8, 4}});
  const Ids prompt = {1, 2, 3, 4, 5, 6};
  scheduler.add(1, prompt);
  scheduler.add(2, prompt);
  const std::vector<ScheduledTokens> chosen = scheduler.schedule();
  REQUIRE(text(chosen) == "1:0+6* 2:0+6*");
  CHECK(scheduler.pool().used() == 4);
  scheduler.computed(chosen);
  CHECK(scheduler.pool().used() == 3);
  const Ids first = scheduler.sequence(1).blocks, second = scheduler.sequence(2).blocks;
  CHECK(second[0] == first[0]);
  CHECK(second[1] != first[1]);
  CHECK(scheduler.pool().holders(first[0]) == 2);
}

TEST_CASE("scheduler: further answers begin right behind the first, with the same blocks") {
  Scheduler scheduler({8, 4, {7, 4}});
  scheduler.add(1, {1, 2, 3, 4, 5, 6}, 3);
  scheduler.add(4, {7});
  const std::vector<ScheduledTokens> chosen = scheduler.schedule();
  REQUIRE(text(chosen) == "1:0+6* 4:0+1*");
  CHECK(chosen[0].forks == 2);
  scheduler.computed(chosen);
  CHECK(scheduler.running_requests() == std::vector<RequestId>{1, 2, 3, 4});
  const Ids blocks = scheduler.sequence(1).blocks;
  for (const RequestId id : {1, 2, 3}) {
    CAPTURE(id);
    CHECK(scheduler.sequence(id).blocks == blocks);
    CHECK(scheduler.sequence(id).computed == 6);
    CHECK(scheduler.sequence(id).forks == 0);
  }
  CHECK(scheduler.pool().holders(blocks[0]) == 3);
  CHECK(scheduler.pool().holders(blocks[1]) == 3);
}

TEST_CASE("scheduler: an answer copies the block that it writes to, unless nobody else has it") {
  Scheduler scheduler({8, 3, {7, 4}});
  scheduler.add(1, {1, 2, 3, 4, 5, 6}, 3);
  scheduler.add(4, {7});
  std::vector<ScheduledTokens> chosen = scheduler.schedule();
  REQUIRE(text(chosen) == "1:0+6*");  // request 4 finds no place beside three answers
  scheduler.computed(chosen);
  for (const RequestId id : {1, 2, 3}) scheduler.append(id, static_cast<int32_t>(10 * id));
  REQUIRE(scheduler.sequence(1).blocks == Ids{0, 1});
  chosen = scheduler.schedule();
  CHECK(text(chosen) == "1:6+1* 2:6+1* 3:6+1*");
  REQUIRE(scheduler.copies().size() == 2);
  CHECK(scheduler.copies()[0].from == 1);
  CHECK(scheduler.copies()[0].to == 2);
  CHECK(scheduler.copies()[1].from == 1);
  CHECK(scheduler.copies()[1].to == 3);
  CHECK(scheduler.sequence(1).blocks == Ids{0, 2});
  CHECK(scheduler.sequence(2).blocks == Ids{0, 3});
  CHECK(scheduler.sequence(3).blocks == Ids{0, 1});  // the last one writes in place
  CHECK(scheduler.pool().holders(1) == 1);
  scheduler.computed(chosen);
  scheduler.remove(2);
  CHECK(scheduler.pool().holders(0) == 2);
  CHECK(text(scheduler.schedule()) == "4:0+1*");
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
  Scheduler scheduler({5, 2, {4, 4}});
  CHECK_THROWS_WITH(scheduler.add(1, {1}, 3), Catch::Contains("3 answers") && Catch::Contains("at most 2"));
  CHECK_THROWS_WITH(scheduler.add(1, {1}, 0), Catch::Contains("0 answers"));
  CHECK(scheduler.waiting() == 0);
}

TEST_CASE(
    "scheduler: 6,000 random schedules keep every invariant, end, and give each request its own answer") {
  int64_t preemptions = 0, cached = 0, copies = 0;
  for (uint32_t seed = 0; seed < 6000; ++seed) {
    CAPTURE(seed);
    Simulation simulation(seed);
    simulation.run();
    preemptions += simulation.preemptions;
    cached += simulation.cached;
    copies += simulation.copies;
  }
  CHECK(preemptions > 1000);
  CHECK(cached > 10000);
  CHECK(copies > 1000);
}

}  // namespace
}  // namespace rung
