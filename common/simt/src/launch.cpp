// Checks a launch's configuration and runs its blocks on the pool.
#include "simt/launch.h"

#include "block.h"
#include "device.h"
#include "error.h"
#include "memory.h"
#include "options.h"
#include "pool.h"
#include "sanitizers.h"
#include "stream.h"

namespace simt {
namespace {

std::string extent(const dim3& d) {
  return "(" + std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z) + ")";
}

/// What is wrong with the configuration, or "".
std::string configuration_error(const KernelCall& call, const LaunchConfig& c) {
  const std::uint64_t threads = std::uint64_t{c.block.x} * c.block.y * c.block.z;
  if (threads == 0) return "block " + extent(c.block) + " has a zero";
  if (c.grid.x == 0 || c.grid.y == 0 || c.grid.z == 0) return "grid " + extent(c.grid) + " has a zero";
  if (c.block.x > 1024 || c.block.y > 1024 || c.block.z > 64 || threads > max_threads_per_block)
    return "block " + extent(c.block) + " has " + std::to_string(threads) +
           " threads; at most 1024 (and 64 in z) are allowed";
  if (c.grid.x > 2147483647u || c.grid.y > 65535 || c.grid.z > 65535)
    return "grid " + extent(c.grid) + " is over (2147483647,65535,65535)";
  const std::size_t limit = dynamic_shared_limit(call.function);
  if (c.shared_bytes > limit)
    return std::to_string(c.shared_bytes) + " bytes of dynamic shared memory; the limit is " +
           std::to_string(limit) +
           (c.shared_bytes <= max_shared_optin ? " until cudaFuncSetAttribute raises it" : "");
  return "";
}

void run(const KernelCall& call, const LaunchConfig& config) {
  // On the heap, because ThreadSanitizer keeps sync variables by address.
  auto launch = std::make_unique<Launch>();
  launch->name = call.name;
  launch->grid = config.grid;
  launch->block = config.block;
  launch->shared_bytes = config.shared_bytes;
  launch->shared_limit =
      dynamic_shared_limit(call.function) > max_shared_default ? max_shared_optin : max_shared_default;
  launch->thread = call.run;
  launch->closure = call.closure;
  launch->threads_per_block = config.block.x * config.block.y * config.block.z;
  launch->blocks = std::uint64_t{config.grid.x} * config.grid.y * config.grid.z;
  static std::atomic<std::uint64_t> launches{0};
  launch->seeded = order_seed(launch->seed);
  if (launch->seeded) {
    launch->seed = (launch->seed + 1) * 0xd1342543de82ef95ull + launches++;
    if (launch->blocks <= 1u << 24) {
      launch->order.resize(launch->blocks);
      for (std::uint64_t i = 0; i < launch->blocks; ++i) launch->order[i] = static_cast<std::uint32_t>(i);
      std::uint64_t state = launch->seed;
      for (std::uint64_t i = launch->blocks; i > 1; --i) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        std::swap(launch->order[i - 1], launch->order[(state >> 33) % i]);
      }
    }
  }
  tsan_release(&launch->start_token);
  const DeviceAccess access;
  Launch* shared = launch.get();
  const std::function<void()> work = [shared] {
    Worker& worker = Worker::get();
    for (;;) {
      const std::uint64_t i = shared->next.fetch_add(1);
      if (i >= shared->blocks || shared->failed.load()) return;
      worker.run_block(*shared, shared->order.empty() ? i : shared->order[i]);
      if (check_nan() && !shared->failed.load()) {
        const std::string found = find_shared_poison();
        if (!found.empty()) shared->fail(cudaErrorLaunchFailure, worker.describe_block() + ": " + found);
      }
    }
  };
  const std::uint64_t others = launch->blocks - 1;
  // One block at a time, where the memory is searched after each.
  run_on_pool(work, check_nan() ? 0 : others < 1024 ? static_cast<int>(others) : 1024);
  tsan_acquire(&launch->end_token);
  if (launch->error != cudaSuccess) set_sticky_error(launch->error, launch->detail);
}

}  // namespace

void launch_threads(const KernelCall& call, const LaunchConfig& config) {
  if (sticky_error() != cudaSuccess) return;
  if (Worker::active() != nullptr)
    Worker::active()->fail(cudaErrorNotSupported, text("a kernel launched a kernel"));
  const std::string wrong = configuration_error(call, config);
  if (!wrong.empty()) {
    report_launch_error(cudaErrorInvalidConfiguration,
                        "launch of kernel '" + std::string(call.name) + "': " + wrong);
    return;
  }
  if (!is_capturing(config.stream)) {
    if (!is_default(config.stream) || refuse_default_stream(call.name) == cudaSuccess) run(call, config);
    return;
  }
  const std::shared_ptr<void> closure = call.copy_closure(call.closure);
  capture(config.stream, "kernel", [call, closure, config] {
    KernelCall again = call;
    again.closure = closure.get();
    run(again, config);
    return sticky_error();
  });
}

}  // namespace simt
