// The scheduler of a thread block; see block.h. A fiber runs threads one after another until one of them has
// to wait; only then is another fiber taken, so a kernel without barriers and shuffles runs on a single one.
#include "block.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

#include "device.h"
#include "memory.h"
#include "sanitizers.h"
#include "simt/shared_memory.h"

__thread uint3 threadIdx;
__thread uint3 blockIdx;
__thread dim3 blockDim;
__thread dim3 gridDim;

namespace simt {

void fiber_main(boost::context::detail::transfer_t transfer);

namespace {

__thread Worker* active_worker = nullptr;

constexpr std::size_t canary_bytes = 128;
constexpr unsigned char canary = 0xa5;

Message triple(const uint3& v) {
  return text("(%u,%u,%u)", v.x, v.y, v.z);
}

bool same_place(const char* file, int line, const char* other_file, int other_line) {
  return line == other_line && (file == other_file || std::strcmp(file, other_file) == 0);
}

/// Shuffles, reductions and products read other lanes' values, so every lane of the mask must be there.
bool needs_all_lanes(WarpOp op) {
  return op != WarpOp::sync && op != WarpOp::ballot;
}

}  // namespace

const char* base_name(const char* path) {
  const char* slash = std::strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

Worker& required_worker(const char* what) {
  if (active_worker == nullptr) {
    std::fprintf(stderr, "emulated CUDA: %s called from host code\n", what);
    std::abort();
  }
  return *active_worker;
}

void Launch::fail(cudaError_t code, const std::string& message) {
  std::lock_guard<std::mutex> lock(mutex);
  if (error != cudaSuccess) return;
  error = code;
  detail = message;
  failed.store(true);
}

Worker::Worker() = default;

Worker::~Worker() {
  for (const SharedVariable& variable : spare_) std::free(variable.allocation);
}

Worker& Worker::get() {
  thread_local Worker worker;
  return worker;
}

Worker* Worker::active() {
  return active_worker;
}

std::string Worker::describe(unsigned thread) const {
  return describe_block() + " thread " + triple(threads_[thread].index).c_str();
}

std::string Worker::describe_block() const {
  return "kernel '" + launch_->name + "' block " + triple(blockIdx);
}

std::string Worker::describe() const {
  return describe(current_);
}

std::uint64_t Worker::random() {  // splitmix64
  std::uint64_t z = (random_state_ += 0x9e3779b97f4a7c15ull);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

void Worker::record(unsigned thread, cudaError_t error, const Message& message) {
  failed_ = true;
  launch_->fail(error, describe(thread) + ": " + message.c_str());
}

void Worker::fail(cudaError_t error, const Message& message) {
  const RuntimeScope scope(*this);
  record(current_, error, message);
  leave_fiber(*threads_[current_].fiber, main_);
}

// Which thread runs next.

void Worker::make_ready(unsigned thread) {
  unsigned slot = ready_begin_ + ready_count_++;
  if (slot >= ready_.size()) slot -= static_cast<unsigned>(ready_.size());
  ready_[slot] = static_cast<std::uint16_t>(thread);
}

/// Whether a waiting thread that may go on is next (rather than one that has not started).
bool Worker::choose_ready() {
  const unsigned unstarted = count_ - started_;
  if (ready_count_ == 0) return false;
  if (!seeded_) return true;
  const unsigned pick = static_cast<unsigned>(random() % (ready_count_ + unstarted));
  if (pick >= ready_count_) return false;
  const std::size_t size = ready_.size();
  std::swap(ready_[ready_begin_ % size], ready_[(ready_begin_ + pick) % size]);
  return true;
}

unsigned Worker::take_unstarted() {
  const unsigned next = started_++;
  return seeded_ ? start_order_[next] : next;
}

Fiber& Worker::idle_fiber() {
  if (SIMT_TSAN) {
    starting_ = sets_[set_][seeded_ ? start_order_[started_] : started_].get();
    reset_fiber(*starting_, fiber_main);
  } else if (idle_.empty()) {
    fibers_.push_back(make_fiber(fiber_main));
    starting_ = fibers_.back().get();
  } else {
    starting_ = idle_.back();
    idle_.pop_back();
  }
  return *starting_;
}

/// The fiber to continue with; the thread that it is to run is `current_` or, on an idle one, the next
/// unstarted.
Fiber& Worker::next_fiber() {
  if (choose_ready()) {
    current_ = ready_[ready_begin_];
    if (++ready_begin_ == ready_.size()) ready_begin_ = 0;
    --ready_count_;
    return *threads_[current_].fiber;
  }
  return started_ < count_ ? idle_fiber() : main_;
}

/// The running thread waits: others run until it is made ready.
void Worker::suspend() {
  const unsigned me = current_;
  ThreadRecord& thread = threads_[me];
  thread.state = ThreadState::waiting;
  Fiber& next = next_fiber();
  if (&next != thread.fiber) switch_fiber(*thread.fiber, next);
  current_ = me;
  thread.state = ThreadState::running;
  threadIdx = thread.index;
}

void Worker::begin(unsigned index, Fiber& fiber) {
  ThreadRecord& thread = threads_[index];
  thread.fiber = &fiber;
  thread.state = ThreadState::running;
  current_ = index;
  threadIdx = thread.index;
#if SIMT_TSAN
  const TsanIgnore ignore;
  const std::string name = describe(index);
  __tsan_set_fiber_name(fiber.tsan, name.c_str());
  tsan_acquire(&launch_->start_token);
#endif
}

void fiber_main(boost::context::detail::transfer_t transfer) {
  Worker& worker = *active_worker;
  Fiber& self = *worker.starting_;
  arrived(transfer, self);
  worker.run_fiber(self);
}

void Worker::run_fiber(Fiber& self) {
  for (;;) {
    if (!failed_ && started_ < count_) {
      const unsigned index = take_unstarted();
      begin(index, self);
      // The exception is gone before the fiber may be left.
      bool threw = true;
      try {
        launch_->thread(launch_->closure);
        threw = false;
      } catch (const std::exception& e) {
        thrown_ = text("an exception left the kernel: %s", e.what());
      } catch (...) {
        thrown_ = text("an exception left the kernel");
      }
      if (threw) fail(cudaErrorLaunchFailure, thrown_);
      Fiber* next = nullptr;
      {
        const RuntimeScope scope(*this);
        if (!exit_thread(index)) leave_fiber(self, main_);
        if (SIMT_TSAN) next = &next_fiber();
      }
      if (SIMT_TSAN) leave_fiber(self, *next);  // the stack is this thread's alone
      if (!failed_ && started_ < count_ && !choose_ready()) continue;
    }
    Fiber& next = next_fiber();
    idle_.push_back(&self);
    switch_fiber(self, next);
  }
}

// Waiting for each other.

int Worker::barrier(BarrierVote vote, int predicate, const char* file, int line) {
  const RuntimeScope scope(*this);
  const unsigned me = current_;
  if (barrier_arrived_ == 0) {
    barrier_file_ = file;
    barrier_line_ = line;
    barrier_true_ = 0;
    barrier_first_ = me;
  } else if (!same_place(file, line, barrier_file_, barrier_line_)) {
    fail(cudaErrorLaunchFailure, text("barrier divergence: it waits in __syncthreads() at %s:%d while thread "
                                      "%s waits in the one at %s:%d",
                                      base_name(file), line, triple(threads_[barrier_first_].index).c_str(),
                                      base_name(barrier_file_), barrier_line_));
  }
  if (exited_ != 0) {
    fail(cudaErrorLaunchFailure, text("barrier divergence: it waits in __syncthreads() at %s:%d, and %u of "
                                      "the block's %u threads have exited",
                                      base_name(file), line, exited_, count_));
  }
  const unsigned parity = barrier_generation_ & 1;
  if (SIMT_TSAN) tsan_release(&tokens_->barrier[parity]);
  barrier_true_ += predicate != 0;
  if (++barrier_arrived_ == count_) {
    barrier_arrived_ = 0;
    ++barrier_generation_;
    barrier_result_[parity] = barrier_true_;
    for (unsigned t = 0; t < count_; ++t)
      if (t != me) make_ready(t);
    if (seeded_) {
      make_ready(me);
      suspend();
    }
  } else {
    suspend();
  }
  if (SIMT_TSAN) tsan_acquire(&tokens_->barrier[parity]);
  const unsigned votes = barrier_result_[parity];
  switch (vote) {
    case BarrierVote::count:
      return static_cast<int>(votes);
    case BarrierVote::all:
      return votes == count_;
    case BarrierVote::any:
      return votes != 0;
    case BarrierVote::none:
      break;
  }
  return 0;
}

/// All of `lanes` are waiting in the same collective: computes their results and lets them go (`except` is
/// running).
void Worker::complete(Warp& warp, unsigned first_thread, unsigned lanes, unsigned except) {
  const int low = __builtin_ctz(lanes);
  const WarpOp op = warp.lanes[low].op;
  LaneRecord* record = warp.lanes;
  auto each = [lanes](auto function) {
    for (unsigned rest = lanes; rest != 0; rest &= rest - 1) function(__builtin_ctz(rest));
  };
  auto reduce = [&](auto combine) {
    std::uint64_t total = record[low].value;
    each([&](int i) {
      if (i != low) total = combine(total, record[i].value);
    });
    each([&](int i) { record[i].result = total; });
  };
  auto as_signed = [](std::uint64_t v) { return static_cast<std::int64_t>(v); };
  switch (op) {
    case WarpOp::sync:
      break;
    case WarpOp::shuffle:
      each([&](int i) { record[i].result = record[record[i].source].value; });
      break;
    case WarpOp::ballot: {
      unsigned votes = 0;
      each([&](int i) { votes |= static_cast<unsigned>(record[i].value != 0) << i; });
      each([&](int i) { record[i].result = votes; });
      break;
    }
    case WarpOp::match_any:
      each([&](int i) {
        unsigned same = 0;
        each([&](int j) { same |= static_cast<unsigned>(record[j].value == record[i].value) << j; });
        record[i].result = same;
      });
      break;
    case WarpOp::match_all: {
      bool all = true;
      each([&](int i) { all = all && record[i].value == record[low].value; });
      each([&](int i) { record[i].result = all ? lanes : 0; });
      break;
    }
    case WarpOp::add:
      reduce([](std::uint64_t a, std::uint64_t b) { return a + b; });
      break;
    case WarpOp::min_signed:
      reduce([&](std::uint64_t a, std::uint64_t b) { return as_signed(a) < as_signed(b) ? a : b; });
      break;
    case WarpOp::max_signed:
      reduce([&](std::uint64_t a, std::uint64_t b) { return as_signed(a) > as_signed(b) ? a : b; });
      break;
    case WarpOp::min_unsigned:
      reduce([](std::uint64_t a, std::uint64_t b) { return a < b ? a : b; });
      break;
    case WarpOp::max_unsigned:
      reduce([](std::uint64_t a, std::uint64_t b) { return a > b ? a : b; });
      break;
    case WarpOp::bit_and:
      reduce([](std::uint64_t a, std::uint64_t b) { return a & b; });
      break;
    case WarpOp::bit_or:
      reduce([](std::uint64_t a, std::uint64_t b) { return a | b; });
      break;
    case WarpOp::bit_xor:
      reduce([](std::uint64_t a, std::uint64_t b) { return a ^ b; });
      break;
    case WarpOp::call: {
      void* arguments[32] = {};
      each([&](int i) { arguments[i] = reinterpret_cast<void*>(record[i].value); });
      if (record[low].function != nullptr) record[low].function(arguments);
      break;
    }
  }
  warp.waiting &= ~lanes;
  warp.generation ^= 1u << low;
  each([&](int i) {
    if (static_cast<unsigned>(i) != except) make_ready(first_thread + static_cast<unsigned>(i));
  });
}

std::uint64_t Worker::collective(WarpOp op, const char* name, unsigned mask, std::uint64_t value, int source,
                                 WarpFunction function, const char* file, int line) {
  const RuntimeScope scope(*this);
  const unsigned me = current_;
  const unsigned lane = me % 32;
  const unsigned first_thread = me - lane;
  Warp& warp = warps_[me / 32];
  auto here = [&] { return text("%s at %s:%d with mask 0x%08x", name, base_name(file), line, mask); };
  if ((mask >> lane & 1) == 0)
    fail(cudaErrorLaunchFailure, text("%s: the mask leaves out the calling lane %u", here().c_str(), lane));
  const unsigned lanes = mask & warp.alive;
  if (lanes != mask && needs_all_lanes(op)) {
    const int missing = __builtin_ctz(mask & ~warp.alive);
    fail(cudaErrorLaunchFailure,
         text("%s: the mask names lane %d, which %s", here().c_str(), missing,
              warp.exists >> missing & 1 ? "has exited" : "does not exist in this block"));
  }
  if (op == WarpOp::shuffle && (mask >> source & 1) == 0)
    fail(cudaErrorLaunchFailure,
         text("%s: lane %u reads lane %d, which is not in the mask", here().c_str(), lane, source));
  // Lanes that wait in the same collective were compared when they came: the first one stands for them.
  const auto same = [&](const LaneRecord& theirs) {
    return theirs.op == op && theirs.mask == mask && same_place(theirs.file, theirs.line, file, line);
  };
  unsigned others = warp.waiting & mask;
  if (others != 0 && same(warp.lanes[__builtin_ctz(others)])) others = 0;
  for (unsigned rest = others; rest != 0; rest &= rest - 1) {
    const int other = __builtin_ctz(rest);
    const LaneRecord& theirs = warp.lanes[other];
    if ((theirs.mask >> lane & 1) != 0 && !same(theirs)) {
      fail(cudaErrorLaunchFailure,
           text("%s: lane %d of the mask waits in %s at %s:%d with mask 0x%08x", here().c_str(), other,
                theirs.name, base_name(theirs.file), theirs.line, theirs.mask));
    }
  }
  LaneRecord& mine = warp.lanes[lane];
  mine.op = op;
  mine.name = name;
  mine.mask = mask;
  mine.source = source;
  mine.line = line;
  mine.file = file;
  mine.function = function;
  mine.value = value;
  warp.waiting |= 1u << lane;
  [[maybe_unused]] char* token = nullptr;
#if SIMT_TSAN
  const int low = __builtin_ctz(mask);
  token = &tokens_->warp[me / 32][low][warp.generation >> low & 1];
  tsan_release(token);
#endif
  if ((warp.waiting & lanes) == lanes) {
    complete(warp, first_thread, lanes, lane);
    if (seeded_) {
      make_ready(me);
      suspend();
    }
  } else {
    suspend();
  }
  if (SIMT_TSAN) tsan_acquire(token);
  return mine.result;
}

/// The thread has returned from the kernel. False: somebody waits for it in vain, and the launch has failed.
bool Worker::exit_thread(unsigned index) {
  if (SIMT_TSAN) tsan_release(&launch_->end_token);
  if (barrier_arrived_ != 0) {
    record(barrier_first_, cudaErrorLaunchFailure,
           text("barrier divergence: it waits in __syncthreads() at %s:%d, which thread %s never reaches: it "
                "has exited",
                base_name(barrier_file_), barrier_line_, triple(threads_[index].index).c_str()));
    return false;
  }
  const unsigned lane = index % 32;
  Warp& warp = warps_[index / 32];
  warp.alive &= ~(1u << lane);
  ++exited_;
  threads_[index].state = ThreadState::exited;
  for (unsigned rest = warp.waiting; rest != 0; rest &= rest - 1) {
    const unsigned other = static_cast<unsigned>(__builtin_ctz(rest));
    const LaneRecord& theirs = warp.lanes[other];
    if ((theirs.mask >> lane & 1) == 0) continue;
    if (needs_all_lanes(theirs.op)) {
      record(index - lane + other, cudaErrorLaunchFailure,
             text("%s at %s:%d with mask 0x%08x: the mask names lane %u, which has exited", theirs.name,
                  base_name(theirs.file), theirs.line, theirs.mask, lane));
      return false;
    }
    const unsigned lanes = theirs.mask & warp.alive;
    if ((warp.waiting & lanes) == lanes) {
      complete(warp, index - lane, lanes, 32);
      rest &= ~lanes;
      if (rest == 0) break;
    }
  }
  return true;
}

// Shared memory.

SharedVariable Worker::allocate_shared(const void* key, std::size_t bytes, const char* name) {
  SharedVariable variable;
  const std::size_t wanted = bytes + 2 * canary_bytes;
  if (!SIMT_ASAN && !SIMT_TSAN) {
    for (std::size_t i = 0; i < spare_.size(); ++i) {
      if (spare_[i].allocation_bytes == wanted) {
        variable = spare_[i];
        spare_[i] = spare_.back();
        spare_.pop_back();
        break;
      }
    }
  }
  // AddressSanitizer puts its own red zone right behind the last byte.
  const std::size_t tail = SIMT_ASAN ? 0 : canary_bytes;
  if (variable.allocation == nullptr) {
    void* memory = nullptr;
    if (posix_memalign(&memory, canary_bytes, canary_bytes + bytes + tail) != 0)
      fail(cudaErrorLaunchOutOfResources, text("no memory for %zu bytes of shared memory", bytes));
    variable.allocation = static_cast<char*>(memory);
    variable.allocation_bytes = wanted;
  }
  variable.key = key;
  variable.name = name;
  variable.bytes = bytes;
  variable.storage = variable.allocation + canary_bytes;
  std::memset(variable.allocation, canary, canary_bytes);
  for (std::size_t i = 0; i + 1 < bytes; i += 2) std::memcpy(variable.storage + i, &shared_poison, 2);
  if (bytes % 2 != 0) variable.storage[bytes - 1] = static_cast<char>(shared_poison & 0xff);
  if (tail != 0) std::memset(variable.storage + bytes, canary, tail);
#if SIMT_ASAN
  __asan_poison_memory_region(variable.allocation, canary_bytes);
#endif
  return variable;
}

void Worker::check_and_free_shared() {
  auto release = [this](SharedVariable& variable) {
    if (variable.allocation == nullptr) return;
    if (!SIMT_ASAN && !failed_) {
      for (std::size_t i = 0; i < canary_bytes; ++i) {
        const auto byte = [&](const char* p) { return static_cast<unsigned char>(p[i]); };
        const bool before = byte(variable.allocation) != canary;
        if (before || byte(variable.storage + variable.bytes) != canary) {
          failed_ = true;
          launch_->fail(
              cudaErrorIllegalAddress,
              describe_block() + ": " +
                  text("a write %s shared '%s' (%zu bytes), at byte %zd", before ? "before" : "past",
                       variable.name, variable.bytes,
                       before ? static_cast<std::ptrdiff_t>(i) - static_cast<std::ptrdiff_t>(canary_bytes)
                              : static_cast<std::ptrdiff_t>(variable.bytes + i)));
          break;
        }
      }
    }
    if (SIMT_ASAN || SIMT_TSAN) {
#if SIMT_ASAN
      __asan_unpoison_memory_region(variable.allocation, canary_bytes);
#endif
      std::free(variable.allocation);
    } else {
      spare_.push_back(variable);
    }
    variable = SharedVariable{};
  };
  for (SharedVariable& variable : shared_) release(variable);
  shared_.clear();
  release(dynamic_);
  static_bytes_ = 0;
}

void* Worker::static_shared(const void* key, std::size_t bytes, const char* name) {
  const RuntimeScope scope(*this);
  for (const SharedVariable& variable : shared_)
    if (variable.key == key) return variable.storage;
  static_bytes_ += bytes;
  if (static_bytes_ > max_shared_default)
    fail(cudaErrorInvalidConfiguration,
         text("%zu bytes of static shared memory; the limit is %zu", static_bytes_, max_shared_default));
  if (static_bytes_ + launch_->shared_bytes > launch_->shared_limit)
    fail(cudaErrorInvalidConfiguration,
         text("%zu bytes of static and %zu of dynamic shared memory; the limit of both is %zu", static_bytes_,
              launch_->shared_bytes, launch_->shared_limit));
  shared_.push_back(allocate_shared(key, bytes, name));
  return shared_.back().storage;
}

void* Worker::dynamic_shared() {
  const RuntimeScope scope(*this);
  if (dynamic_.allocation == nullptr)
    dynamic_ = allocate_shared(nullptr, launch_->shared_bytes, "dynamic shared memory");
  return dynamic_.storage;
}

// A block from beginning to end.

void Worker::run_block(Launch& launch, std::uint64_t number) {
  const TsanIgnore ignore;
  launch_ = &launch;
  count_ = launch.threads_per_block;
  started_ = exited_ = 0;
  failed_ = false;
  ready_begin_ = ready_count_ = 0;
  barrier_arrived_ = barrier_generation_ = 0;
  copies_.clear();
  threads_.resize(count_);
  if (ready_.size() < count_) ready_.resize(count_);
  uint3 index{};
  for (unsigned t = 0; t < count_; ++t) {
    threads_[t] = ThreadRecord{};
    threads_[t].index = index;
    if (++index.x == launch.block.x) {
      index.x = 0;
      if (++index.y == launch.block.y) {
        index.y = 0;
        ++index.z;
      }
    }
  }
  warps_.resize((count_ + 31) / 32);
  for (std::size_t w = 0; w < warps_.size(); ++w) {
    const unsigned lanes = count_ - static_cast<unsigned>(w) * 32;
    warps_[w].exists = warps_[w].alive = lanes >= 32 ? 0xffffffffu : (1u << lanes) - 1;
    warps_[w].waiting = 0;
    warps_[w].generation = 0;
  }
  seeded_ = launch.seeded;
  if (seeded_) {
    random_state_ = launch.seed + number * 0x632be59bd9b4e019ull;
    start_order_.resize(count_);
    for (unsigned t = 0; t < count_; ++t) start_order_[t] = t;
    for (unsigned t = count_; t > 1; --t) std::swap(start_order_[t - 1], start_order_[random() % t]);
  }
  if (SIMT_TSAN) tokens_ = new SyncTokens;
  gridDim = launch.grid;
  blockDim = launch.block;
  const std::uint64_t row = number / launch.grid.x;
  blockIdx = uint3{static_cast<unsigned>(number % launch.grid.x), static_cast<unsigned>(row % launch.grid.y),
                   static_cast<unsigned>(row / launch.grid.y)};
  make_set();
  active_worker = this;
  Fiber& first = next_fiber();
  switch_fiber(main_, first);
  active_worker = nullptr;
  if (!failed_ && exited_ != count_) {
    for (unsigned t = 0; t < count_; ++t) {
      if (threads_[t].state != ThreadState::waiting) continue;
      const Warp& warp = warps_[t / 32];
      const LaneRecord& lane = warp.lanes[t % 32];
      if (warp.waiting >> (t % 32) & 1) {
        const unsigned absent = lane.mask & ~warp.waiting;
        record(t, cudaErrorLaunchFailure,
               text("%s at %s:%d with mask 0x%08x: lane %d of the mask never comes", lane.name,
                    base_name(lane.file), lane.line, lane.mask, absent == 0 ? -1 : __builtin_ctz(absent)));
      } else {
        unsigned at_barrier = barrier_arrived_;
        record(t, cudaErrorLaunchFailure,
               text("barrier divergence: it waits in __syncthreads() at %s:%d, which %u of the block's %u "
                    "threads never reach",
                    base_name(barrier_file_), barrier_line_, count_ - at_barrier, count_));
      }
      break;
    }
  }
  finish_block();
}

void Worker::finish_block() {
  check_and_free_shared();
  if (SIMT_TSAN) {
    for (unsigned t = 0; t < count_; ++t) {
      const ThreadState state = threads_[t].state;
      if (state != ThreadState::waiting && state != ThreadState::running) continue;
      end_abandoned(threads_[t]);
      sets_[set_][t].reset();
    }
    delete tokens_;
    tokens_ = nullptr;
    set_ ^= 1;
  } else if (failed_) {
    // Abandoned threads leave their fibers in the middle of the kernel: start those over.
    for (const auto& fiber : fibers_) {
      bool idle = false;
      for (const Fiber* other : idle_) idle = idle || other == fiber.get();
      if (idle) continue;
      reset_fiber(*fiber, fiber_main);
      idle_.push_back(fiber.get());
    }
  }
}

/// ThreadSanitizer only: a fiber for each thread of the block. Made here, not by the thread that happens to
/// run before, because creation orders the creator before the created.
void Worker::make_set() {
#if SIMT_TSAN
  main_.tsan = __tsan_get_current_fiber();
  std::vector<std::unique_ptr<Fiber>>& set = sets_[set_];
  if (set.size() < count_) set.resize(count_);
  for (unsigned t = 0; t < count_; ++t) {
    if (set[t] != nullptr) continue;
    set[t] = make_fiber(fiber_main);
    set[t]->tsan = __tsan_create_fiber(0);
  }
#endif
}

/// ThreadSanitizer only: what an abandoned thread did still comes before what the host does next.
void Worker::end_abandoned([[maybe_unused]] ThreadRecord& thread) {
#if SIMT_TSAN
  __tsan_switch_to_fiber(thread.fiber->tsan, 1);
  tsan_release(&launch_->end_token);
  for (; thread.ignores > 0; --thread.ignores) end_ignoring();
  __tsan_switch_to_fiber(main_.tsan, 1);
  __tsan_destroy_fiber(thread.fiber->tsan);
#endif
}

// What device code calls.

int block_barrier(BarrierVote vote, int predicate, const char* file, int line) {
  return required_worker("__syncthreads").barrier(vote, predicate, file, line);
}

std::uint64_t warp_collective(WarpOp op, const char* name, unsigned mask, std::uint64_t value, int source,
                              WarpFunction function, const char* file, int line) {
  return required_worker(name).collective(op, name, mask, value, source, function, file, line);
}

unsigned active_lanes() {
  return required_worker("__activemask").active_lanes();
}
int lane() {
  return required_worker("a warp shuffle").lane();
}

void check_launch_bounds(int most_threads) {
  const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
  if (threads <= static_cast<unsigned>(most_threads)) return;
  required_worker("__launch_bounds__")
      .fail(cudaErrorInvalidValue,
            text("the block has %u threads, over the %d of its __launch_bounds__", threads, most_threads));
}

void check_matrix_alignment(const char* name, const void* pointer, std::size_t ld_bytes, const char* file,
                            int line);

void* static_shared_storage(const void* key, std::size_t bytes, const char* name) {
  return required_worker("a function with __shared__ variables").static_shared(key, bytes, name);
}
void* dynamic_shared_storage() {
  return required_worker("a function with __shared__ variables").dynamic_shared();
}

void trap(const char* file, int line) {
  required_worker("__trap").fail(cudaErrorLaunchFailure, text("__trap() at %s:%d", base_name(file), line));
}

void check_matrix_alignment(const char* name, const void* pointer, std::size_t ld_bytes, const char* file,
                            int line) {
  if (reinterpret_cast<std::uintptr_t>(pointer) % 32 == 0 && ld_bytes % 16 == 0) return;
  required_worker(name).fail(
      cudaErrorMisalignedAddress,
      text("%s at %s:%d: address %p must be a multiple of 32 and the leading dimension, %zu bytes, one of 16",
           name, base_name(file), line, pointer, ld_bytes));
}

void memory_fence() {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#if SIMT_TSAN
  static char token;
  tsan_release(&token);
  tsan_acquire(&token);
#endif
}

}  // namespace simt

// Sanitizers' reports start with who is running.
#if SIMT_ASAN
namespace {
void name_running_thread() {
  const simt::Worker* worker = simt::Worker::active();
  if (worker != nullptr) std::fprintf(stderr, "emulated CUDA: in %s:\n", worker->describe().c_str());
}
}  // namespace
extern "C" void __asan_on_error() {
  name_running_thread();
}
extern "C" void __ubsan_on_report() {
  name_running_thread();
}
#endif
