// RUNG_NOT_DONE("06.2") stands in for the solution of an exercise in a kernel: on the host and in the
// emulator it raises NotDone, on a GPU it is a failed assertion with the same text.
#pragma once

#include <cassert>

#include "rung/error.h"

#ifdef __CUDA_ARCH__
#define RUNG_NOT_DONE(task) __assert_fail("exercise " task " is not done yet", __FILE__, __LINE__, __func__)
#else
#define RUNG_NOT_DONE(task) ::rung::not_done(task)
#endif
