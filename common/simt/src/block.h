// One thread block: its threads as fibers, which of them may run, barriers, warp collectives and shared
// memory. A Worker is the operating-system thread that runs blocks one after another, with its stock of
// fibers and memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cuda_runtime_api.h"
#include "fiber.h"
#include "message.h"
#include "sanitizers.h"
#include "simt/async_copy.h"
#include "simt/warp.h"

namespace simt {

/// A kernel launch: shared by the workers that run its blocks.
struct Launch {
  std::string name;
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes = 0;  // dynamic
  std::size_t shared_limit = 0;  // static and dynamic
  void (*thread)(void*) = nullptr;
  void* closure = nullptr;
  std::uint64_t blocks = 0;
  unsigned threads_per_block = 0;
  std::vector<std::uint32_t> order;  // of the blocks; empty: ascending
  bool seeded = false;
  std::uint64_t seed = 0;
  std::atomic<std::uint64_t> next{0};
  std::atomic<bool> failed{false};
  char start_token = 0;  // ThreadSanitizer: host → threads
  char end_token = 0;    // threads → host

  std::mutex mutex;
  cudaError_t error = cudaSuccess;
  std::string detail;

  /// Records the first error of the launch.
  void fail(cudaError_t code, const std::string& text);
};

enum class ThreadState : std::uint8_t { unstarted, running, waiting, exited };

struct ThreadRecord {
  Fiber* fiber = nullptr;
  ThreadState state = ThreadState::unstarted;
  uint3 index{};
  int ignores = 0;  // RuntimeScopes that it is in
};

/// What a lane brought to the collective that it waits in.
struct LaneRecord {
  WarpOp op = WarpOp::sync;
  const char* name = "";
  unsigned mask = 0;
  int source = 0;
  int line = 0;
  const char* file = "";
  WarpFunction function = nullptr;
  std::uint64_t value = 0;
  std::uint64_t result = 0;
};

struct Warp {
  unsigned alive = 0;       // lanes that exist and have not exited
  unsigned exists = 0;      // lanes that exist
  unsigned waiting = 0;     // lanes in a collective
  unsigned generation = 0;  // bit l flips when a collective whose lowest lane is l completes
  LaneRecord lanes[32];
};

/// ThreadSanitizer's sync variables of one block; heap storage, new for every block.
struct SyncTokens {
  char barrier[2];
  char warp[32][32][2];
};

struct SharedVariable {
  const void* key = nullptr;
  const char* name = "";
  char* storage = nullptr;
  std::size_t bytes = 0;
  char* allocation = nullptr;
  std::size_t allocation_bytes = 0;
};

/// Asynchronous copies that a thread has begun and not waited for, oldest first.
struct ThreadCopies {
  struct Waiting {
    AsyncCopy copy;
    std::size_t group;  // commits before it
  };
  std::deque<Waiting> waiting;
  std::size_t commits = 0;
};

class Worker {
 public:
  Worker();
  ~Worker();
  /// This operating-system thread's worker.
  static Worker& get();
  /// The worker that is running a kernel's thread right now, or null on the host's side.
  static Worker* active();

  /// Runs block number `index` of `launch` to its end, or until the launch has failed.
  void run_block(Launch& launch, std::uint64_t index);

  int barrier(BarrierVote vote, int predicate, const char* file, int line);
  std::uint64_t collective(WarpOp op, const char* name, unsigned mask, std::uint64_t value, int source,
                           WarpFunction function, const char* file, int line);
  void* static_shared(const void* key, std::size_t bytes, const char* name);
  void* dynamic_shared();
  void begin_copy(const AsyncCopy& copy, const char* file, int line);
  void commit_copies();
  bool take_copy(std::size_t groups, AsyncCopy& copy);
  unsigned active_lanes() const { return warps_[current_ / 32].alive; }
  int lane() const { return static_cast<int>(current_ % 32); }
  /// Records an error of the running thread and abandons the block.
  [[noreturn]] void fail(cudaError_t error, const Message& text);
  /// "kernel 'name' block (x,y,z) thread (x,y,z)" of the running thread.
  std::string describe() const;
  /// "kernel 'name' block (x,y,z)" of the running or last block.
  std::string describe_block() const;

 private:
  /// In the runtime's own code on a kernel thread: ThreadSanitizer looks away. Counted, because abandoned
  /// threads never come back.
  class RuntimeScope {
   public:
#if SIMT_TSAN
    explicit RuntimeScope(Worker& worker) : thread_(worker.threads_[worker.current_]) {
      begin_ignoring();
      ++thread_.ignores;
    }
    ~RuntimeScope() {
      --thread_.ignores;
      end_ignoring();
    }

   private:
    ThreadRecord& thread_;
#else
    explicit RuntimeScope(Worker&) {}
    ~RuntimeScope() {}  // not defaulted: an unused variable of this type is no mistake
#endif
  };

  friend void fiber_main(boost::context::detail::transfer_t transfer);
  void run_fiber(Fiber& self);
  void begin(unsigned thread, Fiber& fiber);
  bool exit_thread(unsigned thread);
  void suspend();
  void make_ready(unsigned thread);
  bool choose_ready();
  Fiber& next_fiber();
  Fiber& idle_fiber();
  unsigned take_unstarted();
  void complete(Warp& warp, unsigned first_thread, unsigned lanes, unsigned except);
  void record(unsigned thread, cudaError_t error, const Message& text);
  std::string describe(unsigned thread) const;
  SharedVariable allocate_shared(const void* key, std::size_t bytes, const char* name);
  void check_and_free_shared();
  bool is_shared(const char* begin, std::size_t bytes) const;
  ThreadCopies& copies();
  void finish_block();
  void make_set();
  void end_abandoned(ThreadRecord& thread);
  std::uint64_t random();

  Launch* launch_ = nullptr;
  unsigned count_ = 0;    // threads of the block
  unsigned current_ = 0;  // the running one
  unsigned started_ = 0;
  unsigned exited_ = 0;
  bool failed_ = false;
  bool seeded_ = false;
  std::uint64_t random_state_ = 0;
  std::vector<ThreadRecord> threads_;
  std::vector<unsigned> start_order_;  // seeded runs only
  std::vector<Warp> warps_;
  std::vector<std::uint16_t> ready_;  // ring buffer
  unsigned ready_begin_ = 0;
  unsigned ready_count_ = 0;

  unsigned barrier_arrived_ = 0;
  unsigned barrier_generation_ = 0;
  unsigned barrier_true_ = 0;
  unsigned barrier_first_ = 0;
  int barrier_line_ = 0;
  const char* barrier_file_ = "";
  unsigned barrier_result_[2] = {};
  SyncTokens* tokens_ = nullptr;

  std::vector<SharedVariable> shared_;
  std::vector<SharedVariable> spare_;
  SharedVariable dynamic_;
  std::size_t static_bytes_ = 0;

  std::vector<ThreadCopies> copies_;  // by thread; empty until the block's first

  Message thrown_;  // what left the kernel

  Fiber main_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Fiber*> idle_;
  // Under ThreadSanitizer thread t of a block always runs on fiber t of a set, with a stack and a TSan fiber
  // that are its own: making them costs most of a millisecond. Two sets take turns, so that blocks that
  // follow each other on a worker are not ordered by it, and their races are seen.
  std::vector<std::unique_ptr<Fiber>> sets_[2];
  unsigned set_ = 0;
  Fiber* starting_ = nullptr;  // the idle fiber switched to last
};

/// The running kernel's worker; ends the program where host code calls `what`.
Worker& required_worker(const char* what);

/// A path's last part.
const char* base_name(const char* path);

}  // namespace simt
