// Streams, events, capture and graphs; see stream.h.
#include "stream.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>

#include "error.h"

struct CUgraphExec_st {
  std::vector<std::shared_ptr<CUgraphNode_st>> nodes;
};

struct CUevent_st {
  std::chrono::steady_clock::time_point time;
  bool recorded = false;
  cudaStream_t captured =
      nullptr;  // the capturing stream that it was recorded in: a point of a graph, not in time
};

namespace simt {
namespace {

struct Captures {
  std::mutex mutex;
  std::vector<cudaStream_t> streams;  // that capture
  std::atomic<std::size_t> count{0};  // of them
};
Captures& captures() {
  static Captures* instance = new Captures;  // outlives static destructors
  return *instance;
}

/// Invalidates the captures that `concerned` picks; whether there were any.
template <class Concerned>
bool invalidate(Concerned concerned) {
  Captures& all = captures();
  if (all.count.load() == 0) return false;
  std::lock_guard<std::mutex> lock(all.mutex);
  bool any = false;
  for (cudaStream_t stream : all.streams) {
    if (!concerned(*stream)) continue;
    stream->invalid = true;
    any = true;
  }
  return any;
}

void forget(cudaStream_t stream) {
  Captures& all = captures();
  std::lock_guard<std::mutex> lock(all.mutex);
  all.streams.erase(std::remove(all.streams.begin(), all.streams.end(), stream), all.streams.end());
  all.count.store(all.streams.size());
}

cudaError_t run(const std::vector<std::shared_ptr<CUgraphNode_st>>& nodes) {
  for (const auto& node : nodes) {
    const cudaError_t error = node->work();
    if (error != cudaSuccess) return error;
  }
  return report(cudaSuccess);
}

}  // namespace

cudaError_t capture(cudaStream_t stream, const char* kind, std::function<cudaError_t()> work) {
  if (sticky_error() != cudaSuccess) return report(cudaSuccess);
  if (stream->invalid) return report(cudaErrorStreamCaptureInvalidated);
  stream->capture->nodes.push_back(std::make_shared<CUgraphNode_st>(CUgraphNode_st{kind, std::move(work)}));
  return cudaSuccess;
}

cudaError_t refuse_default_stream(const char* call) {
  if (!invalidate([](const CUstream_st& s) { return s.blocking; })) return cudaSuccess;
  return report(cudaErrorStreamCaptureImplicit,
                std::string(call) + " on the default stream, which waits for a stream that captures");
}

cudaError_t refuse_in_capture(const char* call) {
  const auto concerned = [](const CUstream_st& s) {
    return s.mode == cudaStreamCaptureModeGlobal ||
           (s.mode == cudaStreamCaptureModeThreadLocal && s.thread == std::this_thread::get_id());
  };
  if (!invalidate(concerned)) return cudaSuccess;
  return report(cudaErrorStreamCaptureUnsupported, std::string(call) + " while a stream captures");
}

cudaError_t refuse_in_capture_of(cudaStream_t stream, const char* call) {
  if (!is_capturing(stream)) return is_default(stream) ? refuse_in_capture(call) : cudaSuccess;
  stream->invalid = true;
  return report(cudaErrorStreamCaptureUnsupported, std::string(call) + " of a stream that captures");
}

}  // namespace simt

using simt::report;

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  *stream = new CUstream_st;
  (*stream)->blocking = (flags & cudaStreamNonBlocking) == 0;
  return report(cudaSuccess);
}
cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int) {
  return cudaStreamCreateWithFlags(stream, flags);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  if (simt::is_default(stream)) return report(cudaErrorInvalidResourceHandle);
  simt::forget(stream);
  delete stream;
  return report(cudaSuccess);
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  const cudaError_t refused = simt::refuse_in_capture_of(stream, "cudaStreamSynchronize");
  return refused != cudaSuccess ? refused : report(cudaSuccess);
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  const cudaError_t refused = simt::refuse_in_capture_of(stream, "cudaStreamQuery");
  return refused != cudaSuccess ? refused : report(cudaSuccess);
}
cudaError_t cudaDeviceSynchronize() {
  const cudaError_t refused = simt::refuse_in_capture("cudaDeviceSynchronize");
  return refused != cudaSuccess ? refused : report(cudaSuccess);
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, void (*function)(void*), void* argument) {
  return simt::queue(stream, "host function", [=] {
    function(argument);
    return report(cudaSuccess);
  });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = new CUevent_st;
  return report(cudaSuccess);
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  return cudaEventCreate(event);
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  if (event == nullptr) return report(cudaErrorInvalidResourceHandle);
  delete event;
  return report(cudaSuccess);
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  if (event == nullptr) return report(cudaErrorInvalidResourceHandle);
  event->captured = simt::is_capturing(stream) ? stream : nullptr;
  event->recorded = event->captured == nullptr;
  event->time = std::chrono::steady_clock::now();
  return report(cudaSuccess);
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  if (event == nullptr) return report(cudaErrorInvalidResourceHandle);
  return report(event->captured != nullptr ? cudaErrorCapturedEvent : cudaSuccess);
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  return cudaEventSynchronize(event);
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t stop) {
  if (start == nullptr || stop == nullptr || !start->recorded || !stop->recorded)
    return report(cudaErrorInvalidResourceHandle);
  *milliseconds = std::chrono::duration<float, std::milli>(stop->time - start->time).count();
  return report(cudaSuccess);
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  if (event == nullptr) return report(cudaErrorInvalidResourceHandle);
  if (event->captured == (simt::is_capturing(stream) ? stream : nullptr)) return report(cudaSuccess);
  if (event->captured != nullptr)
    return report(cudaErrorNotSupported, "the emulator captures one stream for a graph, no forks");
  stream->invalid = true;
  return report(cudaErrorStreamCaptureIsolation, "a stream that captures waits for an event outside of it");
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  if (mode != cudaStreamCaptureModeGlobal && mode != cudaStreamCaptureModeThreadLocal &&
      mode != cudaStreamCaptureModeRelaxed)
    return report(cudaErrorInvalidValue);
  if (simt::is_default(stream))
    return report(cudaErrorStreamCaptureUnsupported, "the default stream cannot capture");
  if (stream->capture != nullptr) return report(cudaErrorIllegalState, "the stream captures already");
  stream->capture = std::make_unique<CUgraph_st>();
  stream->mode = mode;
  stream->thread = std::this_thread::get_id();
  stream->invalid = false;
  simt::Captures& all = simt::captures();
  std::lock_guard<std::mutex> lock(all.mutex);
  all.streams.push_back(stream);
  all.count.store(all.streams.size());
  return report(cudaSuccess);
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  *graph = nullptr;
  if (!simt::is_capturing(stream)) return report(cudaErrorIllegalState, "the stream does not capture");
  if (stream->mode != cudaStreamCaptureModeRelaxed && stream->thread != std::this_thread::get_id())
    return report(cudaErrorStreamCaptureWrongThread);
  simt::forget(stream);
  const std::unique_ptr<CUgraph_st> captured = std::move(stream->capture);
  if (stream->invalid) return report(cudaErrorStreamCaptureInvalidated);
  *graph = new CUgraph_st(*captured);
  return report(cudaSuccess);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  *status = !simt::is_capturing(stream) ? cudaStreamCaptureStatusNone
            : stream->invalid           ? cudaStreamCaptureStatusInvalidated
                                        : cudaStreamCaptureStatusActive;
  return report(cudaSuccess);
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  if (graph == nullptr || count == nullptr) return report(cudaErrorInvalidValue);
  if (nodes != nullptr) {
    for (std::size_t i = 0; i < *count; ++i)
      nodes[i] = i < graph->nodes.size() ? graph->nodes[i].get() : nullptr;
  }
  *count = graph->nodes.size();
  return report(cudaSuccess);
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  if (graph == nullptr) return report(cudaErrorInvalidValue);
  delete graph;
  return report(cudaSuccess);
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long) {
  if (executable == nullptr || graph == nullptr) return report(cudaErrorInvalidValue);
  *executable = new CUgraphExec_st{graph->nodes};
  return report(cudaSuccess);
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* executable, cudaGraph_t graph,
                                          unsigned long long flags) {
  return cudaGraphInstantiate(executable, graph, flags);
}
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* info) {
  if (executable == nullptr || graph == nullptr || info == nullptr) return report(cudaErrorInvalidValue);
  *info = cudaGraphExecUpdateResultInfo{cudaGraphExecUpdateSuccess, nullptr, nullptr};
  const std::size_t count = graph->nodes.size();
  if (executable->nodes.size() != count) info->result = cudaGraphExecUpdateErrorTopologyChanged;
  for (std::size_t i = 0; i < count && info->result == cudaGraphExecUpdateSuccess; ++i) {
    if (std::string(executable->nodes[i]->kind) == graph->nodes[i]->kind) continue;
    info->result = cudaGraphExecUpdateErrorNodeTypeChanged;
    info->errorNode = graph->nodes[i].get();
  }
  if (info->result != cudaGraphExecUpdateSuccess) return report(cudaErrorGraphExecUpdateFailure);
  executable->nodes = graph->nodes;
  return report(cudaSuccess);
}
cudaError_t cudaGraphUpload(cudaGraphExec_t executable, cudaStream_t) {
  return report(executable == nullptr ? cudaErrorInvalidValue : cudaSuccess);
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  if (executable == nullptr) return report(cudaErrorInvalidValue);
  return simt::queue(stream, "graph", [nodes = executable->nodes] { return simt::run(nodes); });
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  if (executable == nullptr) return report(cudaErrorInvalidValue);
  delete executable;
  return report(cudaSuccess);
}
