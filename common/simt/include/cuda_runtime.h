// CUDA's <cuda_runtime.h> for the emulator: the runtime API and the device side's built-ins.
#pragma once

#include "cuda_runtime_api.h"
#include "simt/atomics.h"
#include "simt/intrinsics.h"
#include "simt/shared_memory.h"
#include "simt/thread.h"
#include "simt/warp.h"
