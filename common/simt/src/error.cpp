// Error names, texts and the last-error state; see error.h.
#include "error.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <utility>

namespace simt {
namespace {

thread_local cudaError_t last_error = cudaSuccess;
std::atomic<int> sticky{cudaSuccess};
std::atomic<bool> unread{false};  // a launch left an error that no call has returned yet

struct Detail {
  std::mutex mutex;
  cudaError_t error = cudaSuccess;
  std::string text;
};
Detail& detail_state() {
  static Detail* detail = new Detail;  // outlives static destructors that still free device memory
  return *detail;
}

void tell_unread() {
  if (unread.load())
    std::fprintf(stderr, "emulated CUDA: the program ended without asking for this error: %s\n",
                 detail_state().text.c_str());
}
void mark_unread() {
  static const bool registered = std::atexit(tell_unread) == 0;
  unread.store(registered);
}

struct ErrorName {
  cudaError_t error;
  const char* name;
  const char* text;
};
constexpr ErrorName names[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInitializationError, "cudaErrorInitializationError", "initialization error"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {cudaErrorInvalidPitchValue, "cudaErrorInvalidPitchValue", "invalid pitch argument"},
    {cudaErrorInvalidSymbol, "cudaErrorInvalidSymbol", "invalid device symbol"},
    {cudaErrorInvalidDevicePointer, "cudaErrorInvalidDevicePointer", "invalid device pointer"},
    {cudaErrorInvalidMemcpyDirection, "cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"},
    {cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver",
     "CUDA driver version is insufficient for CUDA runtime version"},
    {cudaErrorInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorIllegalState, "cudaErrorIllegalState",
     "the operation cannot be performed in the present state"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    {cudaErrorLaunchOutOfResources, "cudaErrorLaunchOutOfResources",
     "too many resources requested for launch"},
    {cudaErrorLaunchTimeout, "cudaErrorLaunchTimeout", "the launch timed out and was terminated"},
    {cudaErrorPeerAccessAlreadyEnabled, "cudaErrorPeerAccessAlreadyEnabled",
     "peer access is already enabled"},
    {cudaErrorAssert, "cudaErrorAssert", "device-side assert triggered"},
    {cudaErrorMisalignedAddress, "cudaErrorMisalignedAddress", "misaligned address"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorNotPermitted, "cudaErrorNotPermitted", "operation not permitted"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
    {cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {cudaErrorStreamCaptureInvalidated, "cudaErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
    {cudaErrorStreamCaptureIsolation, "cudaErrorStreamCaptureIsolation",
     "dependency created on uncaptured work in another stream"},
    {cudaErrorStreamCaptureImplicit, "cudaErrorStreamCaptureImplicit",
     "operation would make the legacy stream depend on a capturing blocking stream"},
    {cudaErrorCapturedEvent, "cudaErrorCapturedEvent",
     "operation not permitted on an event last recorded in a capturing stream"},
    {cudaErrorStreamCaptureWrongThread, "cudaErrorStreamCaptureWrongThread",
     "attempt to terminate a thread-local capture sequence from another thread"},
    {cudaErrorGraphExecUpdateFailure, "cudaErrorGraphExecUpdateFailure",
     "the graph update was not performed because it included changes which violated constraints"},
    {cudaErrorUnknown, "cudaErrorUnknown", "unknown error"},
};

}  // namespace

cudaError_t report(cudaError_t error) {
  const cudaError_t already = sticky_error();
  if (already != cudaSuccess) {
    unread.store(false);  // the caller returns it
    return already;
  }
  if (error != cudaSuccess) last_error = error;
  return error;
}

cudaError_t report(cudaError_t error, const std::string& text) {
  if (sticky_error() == cudaSuccess) {
    Detail& detail = detail_state();
    std::lock_guard<std::mutex> lock(detail.mutex);
    detail.error = error;
    detail.text = text;
  }
  return report(error);
}

void report_launch_error(cudaError_t error, const std::string& text) {
  if (report(error, text) == error) mark_unread();
}

void set_sticky_error(cudaError_t error, const std::string& text) {
  Detail& detail = detail_state();
  std::lock_guard<std::mutex> lock(detail.mutex);
  if (sticky.load() != cudaSuccess) return;
  detail.error = error;
  detail.text = text;
  sticky.store(error);
  mark_unread();
  std::fflush(stdout);
  std::fprintf(stderr, "emulated CUDA: %s\n", text.c_str());
  std::fflush(stderr);
}

cudaError_t sticky_error() {
  return static_cast<cudaError_t>(sticky.load());
}

const char* last_error_detail() {
  thread_local std::string copy;
  Detail& detail = detail_state();
  std::lock_guard<std::mutex> lock(detail.mutex);
  copy = detail.text;
  return copy.c_str();
}

void clear_errors() {
  Detail& detail = detail_state();
  std::lock_guard<std::mutex> lock(detail.mutex);
  detail.error = cudaSuccess;
  detail.text.clear();
  sticky.store(cudaSuccess);
  unread.store(false);
  last_error = cudaSuccess;
}

}  // namespace simt

const char* cudaGetErrorName(cudaError_t error) {
  for (const auto& entry : simt::names)
    if (entry.error == error) return entry.name;
  return "unrecognized error code";
}

const char* cudaGetErrorString(cudaError_t error) {
  const char* text = "unrecognized error code";
  for (const auto& entry : simt::names)
    if (entry.error == error) text = entry.text;
  simt::Detail& detail = simt::detail_state();
  std::lock_guard<std::mutex> lock(detail.mutex);
  if (error == cudaSuccess || detail.error != error || detail.text.empty()) return text;
  thread_local std::string with_detail;
  with_detail = std::string(text) + ": " + detail.text;
  return with_detail.c_str();
}

cudaError_t cudaGetLastError() {
  simt::unread.store(false);
  const cudaError_t already = simt::sticky_error();
  if (already != cudaSuccess) return already;
  return std::exchange(simt::last_error, cudaSuccess);
}

cudaError_t cudaPeekAtLastError() {
  simt::unread.store(false);
  const cudaError_t already = simt::sticky_error();
  return already != cudaSuccess ? already : simt::last_error;
}
