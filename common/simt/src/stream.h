// Streams and their capture into graphs. Work for a stream that captures becomes a node: a function that each
// launch of the graph calls, in the order of capture. One stream captures at a time for one graph: forks over
// events are refused.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cuda_runtime_api.h"

struct CUgraphNode_st {
  const char* kind;  // "kernel", "memcpy", …
  std::function<cudaError_t()> work;
};

struct CUgraph_st {
  std::vector<std::shared_ptr<CUgraphNode_st>> nodes;
};

struct CUstream_st {
  bool blocking = true;                 // ordered with the default stream
  std::unique_ptr<CUgraph_st> capture;  // the graph that it captures into
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id thread;  // that began the capture
  bool invalid = false;    // the capture met what cannot be captured
};

namespace simt {

/// The default stream in any of its spellings.
inline bool is_default(cudaStream_t stream) {
  return stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
}

inline bool is_capturing(cudaStream_t stream) {
  return !is_default(stream) && stream->capture != nullptr;
}

/// Appends work to the graph that `stream` captures.
cudaError_t capture(cudaStream_t stream, const char* kind, std::function<cudaError_t()> work);

/// What the default stream waits for would be a stream that captures: invalidates those captures. Success
/// where there are none.
cudaError_t refuse_default_stream(const char* call);

/// A call that must not come while a stream captures, unless the capture is relaxed: invalidates those
/// captures.
cudaError_t refuse_in_capture(const char* call);

/// As refuse_in_capture, for a call about one stream: refused whenever that one captures.
cudaError_t refuse_in_capture_of(cudaStream_t stream, const char* call);

/// Runs work that belongs to `stream` now, or captures it.
template <class Work>
cudaError_t queue(cudaStream_t stream, const char* kind, Work work) {
  if (is_capturing(stream)) return capture(stream, kind, work);
  if (is_default(stream)) {
    const cudaError_t refused = refuse_default_stream(kind);
    if (refused != cudaSuccess) return refused;
  }
  return work();
}

}  // namespace simt
