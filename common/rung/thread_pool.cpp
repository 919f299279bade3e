// Worker threads that spin for a moment before they sleep, and share out a loop by an atomic counter.
#include "rung/thread_pool.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace rung {

namespace {

// How long a thread looks for the next loop before it sleeps: a decode step runs a few hundred loops of some
// tens of microseconds each, and waking a sleeping thread costs about as much as such a loop.
constexpr std::chrono::microseconds kPatience{200};

int usable_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}

void pause_briefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Looks until done() holds or the patience is over; returns whether it holds.
template <class Done>
bool spin_until(Done done) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  do {
    for (int i = 0; i < 64; ++i) {
      if (done()) return true;
      pause_briefly();
    }
  } while (std::chrono::steady_clock::now() < end);
  return done();
}

thread_local bool inside_loop = false;

}  // namespace

// One loop at a time: run() publishes it by raising generation, workers take indices from next until it
// reaches count, and the last worker to leave (busy reaches 0) lets run() return.
struct ThreadPool::State {
  std::mutex one_loop;
  std::mutex mutex;
  std::condition_variable wake;
  std::atomic<unsigned> generation{0};
  std::atomic<bool> stop{false};
  std::atomic<int> busy{0};

  std::atomic<size_t> next{0};
  size_t count = 0;
  const std::function<void(size_t)>* body = nullptr;
  std::exception_ptr error;

  std::vector<std::thread> workers;

  void work() {
    inside_loop = true;
    for (size_t index; (index = next.fetch_add(1, std::memory_order_relaxed)) < count;) {
      try {
        (*body)(index);
      } catch (...) {
        next.store(count, std::memory_order_relaxed);
        std::lock_guard<std::mutex> lock(mutex);
        if (!error) error = std::current_exception();
      }
    }
    inside_loop = false;
  }

  void worker() {
    unsigned seen = 0;
    while (true) {
      const auto published = [&] { return generation.load(std::memory_order_acquire) != seen; };
      if (!spin_until(published)) {
        std::unique_lock<std::mutex> lock(mutex);
        wake.wait(lock, published);
      }
      ++seen;
      if (stop.load(std::memory_order_acquire)) return;
      work();
      busy.fetch_sub(1, std::memory_order_acq_rel);
    }
  }

  void publish() {
    {
      std::lock_guard<std::mutex> lock(mutex);
      generation.fetch_add(1, std::memory_order_release);
    }
    wake.notify_all();
  }
};

ThreadPool::ThreadPool(int threads) : state_(std::make_unique<State>()) {
  if (threads <= 0) threads = usable_cores();
  for (int i = 1; i < threads; ++i) state_->workers.emplace_back([state = state_.get()] { state->worker(); });
}

ThreadPool::~ThreadPool() {
  state_->stop.store(true, std::memory_order_release);
  state_->publish();
  for (std::thread& worker : state_->workers) worker.join();
}

int ThreadPool::threads() const {
  return static_cast<int>(state_->workers.size()) + 1;
}

void ThreadPool::parallel_for(size_t count, const std::function<void(size_t)>& body) {
  if (count == 0) return;
  if (inside_loop || state_->workers.empty() || count == 1) {
    for (size_t index = 0; index < count; ++index) body(index);
    return;
  }
  std::lock_guard<std::mutex> one_loop(state_->one_loop);
  state_->count = count;
  state_->body = &body;
  state_->error = nullptr;
  state_->next.store(0, std::memory_order_relaxed);
  state_->busy.store(static_cast<int>(state_->workers.size()), std::memory_order_relaxed);
  state_->publish();
  state_->work();
  const auto finished = [&] { return state_->busy.load(std::memory_order_acquire) == 0; };
  while (!spin_until(finished)) std::this_thread::yield();
  if (state_->error) std::rethrow_exception(state_->error);
}

}  // namespace rung
