// How much of the memory for keys and values holds any, when every request has a row as long as the longest
// text, and when it has blocks. Counted, not timed: the scheduler runs a mix of requests without a model.
#include <algorithm>

#include "bench/request_mix.h"
#include "engine/scheduler.h"
#include "rung/bench.h"

namespace rung {

namespace {

class KvWasteBench : public BenchPart {
 public:
  const char* name() const override { return "kv_waste"; }
  const char* summary() const override {
    return "memory for keys and values that stays empty, in rows and in blocks";
  }

  void run(Bench& bench, Cpu& device) override { measure(bench, device); }
  void run(Bench& bench, Cuda& device) override { measure(bench, device); }

 private:
  struct Counts {
    double taken = 0, filled = 0;  // slots, summed over all steps
    int64_t steps = 0, most_running = 0, preemptions = 0;
  };

  // All requests of the mix at once, on a pool of these blocks, to their end.
  static Counts count(const std::vector<GenerationRequest>& requests, KvBlocks blocks) {
    Scheduler scheduler({kStepTokens, kRunning, blocks});
    std::vector<int64_t> left;
    for (size_t i = 0; i < requests.size(); ++i) {
      scheduler.add(static_cast<RequestId>(i), requests[i].prompt_ids);
      left.push_back(requests[i].max_tokens);
    }
    Counts counts;
    for (;;) {
      const std::vector<ScheduledTokens> step = scheduler.schedule();
      if (step.empty()) break;
      scheduler.computed(step);
      ++counts.steps;
      counts.most_running = std::max(counts.most_running, scheduler.running());
      counts.taken += static_cast<double>(scheduler.pool().used() * blocks.size);
      for (size_t i = 0; i < requests.size(); ++i) {
        if (left[i] > 0)
          counts.filled += static_cast<double>(scheduler.sequence(static_cast<RequestId>(i)).computed);
      }
      for (const ScheduledTokens& part : step) {
        if (!part.wants_token) continue;
        if (--left[static_cast<size_t>(part.id)] == 0) {
          scheduler.remove(part.id);
        } else {
          scheduler.append(part.id, 1);
        }
      }
    }
    counts.preemptions = scheduler.preemptions();
    return counts;
  }

  // The mix of the measurement with many requests: prompts of 16 to 512 tokens, 128 tokens each in answer.
  template <class Device>
  static void measure(Bench& bench, Device& device) {
    RequestMix mix;
    mix.requests = 256;
    mix.least_prompt = 16, mix.most_prompt = 512;
    mix.least_output = mix.most_output = 128;
    const std::vector<GenerationRequest> requests = mix.make(32000);
    const int64_t context = mix.most_prompt + mix.most_output;
    for (const int64_t block_size : {context, int64_t{64}, int64_t{16}, int64_t{4}}) {
      const KvBlocks blocks{kSlots / block_size, block_size};
      const Counts counts = count(requests, blocks);
      BenchResult result;
      result.name = block_size == context ? "rows of " + std::to_string(context)
                                          : "blocks of " + std::to_string(block_size);
      result.shape = std::to_string(mix.requests) + " requests, " + std::to_string(kSlots) + " slots";
      result.figures = {{"waste_percent", 100 * (1 - counts.filled / counts.taken), "%", ""},
                        {"most_running", static_cast<double>(counts.most_running), "", ""},
                        {"steps", static_cast<double>(counts.steps), "", ""},
                        {"preemptions", static_cast<double>(counts.preemptions), "", ""}};
      bench.record(device, std::move(result));
    }
  }

  static constexpr int64_t kSlots = 32000;  // 50 rows
  static constexpr int64_t kStepTokens = 2048, kRunning = 256;
};

RUNG_BENCH(KvWasteBench);

}  // namespace

}  // namespace rung
