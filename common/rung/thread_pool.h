// A fixed set of threads that share out the iterations of a loop.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace rung {

class ThreadPool {
 public:
  // threads counts the calling thread too; 0 means one for each core that this process may use.
  explicit ThreadPool(int threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const;

  // Calls body(index) once for every index in [0, count), from several threads in no particular order, and
  // returns when all calls have returned. The caller works too. If a call throws, no new calls start and the
  // first exception is rethrown here. A call from inside body runs its loop on the calling thread alone.
  void parallel_for(size_t count, const std::function<void(size_t index)>& body);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rung
