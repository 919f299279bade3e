// See pool.h. Helpers sleep between launches; a launch does not wait for those that have not woken up when
// the work is done.
#include "pool.h"

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "sanitizers.h"

namespace simt {
namespace {

struct Job {
  const std::function<void()>* work = nullptr;
  int wanted = 0;   // helpers that may still join
  int running = 0;  // helpers inside
};

class Pool {
 public:
  explicit Pool(int helpers) {
    for (int i = 0; i < helpers; ++i) threads_.emplace_back([this] { help(); });
  }
  ~Pool() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      stop_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  void run(const std::function<void()>& work, int helpers) {
    Job job;
    job.work = &work;
    job.wanted = helpers;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      jobs_.push_back(&job);
    }
    for (int i = 0; i < helpers; ++i) wake_.notify_one();
    work();
    std::unique_lock<std::mutex> lock(mutex_);
    for (auto it = jobs_.begin(); it != jobs_.end(); ++it) {
      if (*it == &job) {
        jobs_.erase(it);
        break;
      }
    }
    done_.wait(lock, [&] { return job.running == 0; });
  }

 private:
  void help() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      wake_.wait(lock, [this] { return stop_ || !jobs_.empty(); });
      if (stop_) return;
      Job* job = jobs_.front();
      if (--job->wanted == 0) jobs_.pop_front();
      ++job->running;
      lock.unlock();
      (*job->work)();
      lock.lock();
      if (--job->running == 0) done_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  std::deque<Job*> jobs_;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace

int pool_threads() {
  static const int threads = [] {
    if (const char* text = std::getenv("RUNG_SIMT_THREADS")) {
      const long value = std::strtol(text, nullptr, 10);
      if (value >= 1 && value <= 1024) return static_cast<int>(value);
    }
    const int hardware = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    // ThreadSanitizer knows 8,128 threads; each worker has up to 2,048 (see Worker::sets_).
    return SIMT_TSAN ? std::min(hardware, 2) : hardware;
  }();
  return threads;
}

void run_on_pool(const std::function<void()>& work, int helpers) {
  if (helpers <= 0 || pool_threads() == 1) {
    work();
    return;
  }
  static Pool pool(pool_threads() - 1);
  pool.run(work, helpers < pool_threads() - 1 ? helpers : pool_threads() - 1);
}

}  // namespace simt
