// Steps an engine for one request and passes on what comes.
#include "engine/generate.h"

#include <optional>

#include "rung/error.h"
#include "rung/progress.h"

namespace rung {

template <class Device>
Generation generate(Engine<Device>& engine, const GenerationRequest& request, const TextSink& sink) {
  if (!engine.idle()) fail("generate: the engine has other requests");
  std::optional<Progress> progress(std::in_place, "prefill", request.prompt_ids.size());
  const RequestId id = engine.add(request);
  Generation result;
  while (!engine.idle()) {
    for (RequestOutput& output : engine.step()) {
      if (!output.text.empty()) {
        progress.reset();
        sink(output.text);
      }
      if (output.ended) result = std::move(output.result);
    }
    if (progress && engine.scheduler().running() > 0)
      progress->advance_to(static_cast<size_t>(engine.scheduler().sequence(id).computed));
  }
  if (result.finish_reason == FinishReason::error) fail(result.error);
  return result;
}

template Generation generate(Engine<Cpu>&, const GenerationRequest&, const TextSink&);
template Generation generate(Engine<Cuda>&, const GenerationRequest&, const TextSink&);

}  // namespace rung
