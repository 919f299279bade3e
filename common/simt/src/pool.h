// Operating-system threads that help to run a launch's blocks.
#pragma once

#include <functional>

namespace simt {

/// How many threads run blocks: RUNG_SIMT_THREADS, else the machine's.
int pool_threads();

/// Calls `work` on the calling thread and on up to `helpers` others, and returns when all calls have ended.
/// `work` takes pieces from a common counter, so it does not matter how many of them come in time.
void run_on_pool(const std::function<void()>& work, int helpers);

}  // namespace simt
