// CUDA's <vector_functions.h>: part of <cuda_runtime.h> here.
#pragma once

#include "cuda_runtime.h"
