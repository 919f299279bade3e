// CUDA's <device_functions.h>: part of <cuda_runtime.h> here.
#pragma once

#include "cuda_runtime.h"
