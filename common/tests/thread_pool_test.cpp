// The thread pool: every index once, exceptions, loops inside loops, callers at the same time. Clean under
// ThreadSanitizer.
#include "rung/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "testing/catch.h"

using rung::ThreadPool;

TEST_CASE("each index is visited exactly once, for any number of threads and indices") {
  for (int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    CHECK(pool.threads() == threads);
    for (size_t count : {0, 1, 2, 7, 8, 9, 1000}) {
      std::vector<int> visits(count, 0);  // not atomic: two visits of one index at once would be a data race
      pool.parallel_for(count, [&](size_t index) { ++visits[index]; });
      CAPTURE(threads, count);
      CHECK(std::count(visits.begin(), visits.end(), 1) == static_cast<long>(count));
    }
  }
}

TEST_CASE("no number of threads means one for each usable core") {
  CHECK(ThreadPool().threads() >= 1);
  CHECK(ThreadPool(-3).threads() == ThreadPool().threads());
}

TEST_CASE("the loop runs on as many threads as the pool has, the caller among them") {
  ThreadPool pool(3);
  std::mutex mutex;
  std::condition_variable all_here;
  std::set<std::thread::id> seen;
  // No index ends before three different threads work on one: this hangs if the pool uses fewer.
  pool.parallel_for(3, [&](size_t) {
    std::unique_lock<std::mutex> lock(mutex);
    seen.insert(std::this_thread::get_id());
    all_here.notify_all();
    all_here.wait(lock, [&] { return seen.size() == 3; });
  });
  CHECK(seen.count(std::this_thread::get_id()) == 1);
}

TEST_CASE("what the loop wrote is seen after it, in a long series of short loops") {
  ThreadPool pool(4);
  std::vector<long> values(64, 0);
  for (int round = 0; round < 3000; ++round) {
    pool.parallel_for(values.size(), [&](size_t index) { values[index] += static_cast<long>(index); });
  }
  for (size_t i = 0; i < values.size(); ++i) CHECK(values[i] == 3000 * static_cast<long>(i));
}

TEST_CASE("an exception reaches the caller, ends the loop and leaves the pool usable") {
  for (int threads : {1, 2, 4}) {
    ThreadPool pool(threads);
    for (size_t bad : {0, 1, 50, 99}) {
      std::atomic<int> calls{0};
      CAPTURE(threads, bad);
      CHECK_THROWS_WITH(pool.parallel_for(100,
                                          [&](size_t index) {
                                            ++calls;
                                            if (index == bad)
                                              throw std::runtime_error("index " + std::to_string(bad));
                                          }),
                        "index " + std::to_string(bad));
      CHECK(calls >= 1);
      CHECK(calls <= 100);
      std::atomic<int> after{0};
      pool.parallel_for(100, [&](size_t) { ++after; });
      CHECK(after == 100);
    }
  }
}

TEST_CASE("after an exception no new indices start") {
  ThreadPool pool(2);
  std::atomic<int> calls{0};
  CHECK_THROWS(pool.parallel_for(1000000, [&](size_t) {
    ++calls;
    throw 1;
  }));
  CHECK(calls <= 2);
}

TEST_CASE("of several exceptions one is thrown, whatever its type") {
  ThreadPool pool(4);
  CHECK_THROWS_AS(pool.parallel_for(100, [](size_t index) { throw static_cast<int>(index); }), int);
}

TEST_CASE("a loop inside a loop runs to its end on its own thread") {
  ThreadPool pool(3);
  std::vector<int> visits(20 * 30, 0);
  std::atomic<int> elsewhere{0};
  pool.parallel_for(20, [&](size_t outer) {
    const std::thread::id here = std::this_thread::get_id();
    pool.parallel_for(30, [&](size_t inner) {
      if (std::this_thread::get_id() != here) ++elsewhere;
      ++visits[outer * 30 + inner];
    });
  });
  CHECK(std::count(visits.begin(), visits.end(), 1) == 600);
  CHECK(elsewhere == 0);
}

TEST_CASE("an exception in an inner loop reaches the outermost caller") {
  ThreadPool pool(2);
  CHECK_THROWS_WITH(
      pool.parallel_for(
          4, [&](size_t) { pool.parallel_for(4, [](size_t) { throw std::runtime_error("inner"); }); }),
      "inner");
}

TEST_CASE("callers from several threads take turns") {
  ThreadPool pool(2);
  std::atomic<int> begun{0};
  std::vector<std::vector<int>> visits(3, std::vector<int>(60, 0));
  std::vector<std::thread> callers;
  for (size_t c = 0; c < visits.size(); ++c) {
    callers.emplace_back([&, c] {
      // Each calls while the loop of the one before is under way.
      while (begun < static_cast<int>(c)) std::this_thread::yield();
      pool.parallel_for(visits[c].size(), [&](size_t index) {
        if (index == 5) ++begun;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        ++visits[c][index];
      });
    });
  }
  for (std::thread& caller : callers) caller.join();
  for (const std::vector<int>& one : visits) CHECK(std::count(one.begin(), one.end(), 1) == 60);
}

TEST_CASE("a pool that never ran, and one whose threads have gone to sleep, end and work") {
  { ThreadPool unused(4); }
  ThreadPool pool(4);
  std::atomic<int> calls{0};
  for (int round = 0; round < 3; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    pool.parallel_for(10, [&](size_t) { ++calls; });
  }
  CHECK(calls == 30);
}
