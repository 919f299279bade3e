// How fast this machine's cores multiply and add when nothing else holds them up: the roof for matrix
// products.
#pragma once

#include "rung/thread_pool.h"

namespace rung {

// float32 operations a second (a fused multiply-add counts as two) of independent chains in the widest vector
// registers that the processor has, on all threads of the pool.
double fma_rate(ThreadPool& pool);

}  // namespace rung
