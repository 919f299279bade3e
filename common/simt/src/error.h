// Errors of the emulated device: what a launch records, and the host's last-error state.
#pragma once

#include <string>

#include "cuda_runtime_api.h"

namespace simt {

/// Sets this thread's last error (not sticky) and returns it; success changes nothing.
cudaError_t report(cudaError_t error);
/// As report, and keeps `detail` for cudaGetErrorString.
cudaError_t report(cudaError_t error, const std::string& detail);
/// As report, for a launch, which returns nothing: what the host never asks for is told at exit.
void report_launch_error(cudaError_t error, const std::string& detail);
/// A kernel's error: stays until cudaDeviceReset; printed once on stderr.
void set_sticky_error(cudaError_t error, const std::string& detail);
/// The sticky error, or success.
cudaError_t sticky_error();

}  // namespace simt
