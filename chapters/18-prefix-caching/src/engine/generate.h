// Turns one prompt into text: an engine with a single request.
#pragma once

#include <functional>
#include <string_view>

#include "engine/engine.h"

namespace rung {

// Called with each piece of text as soon as it is certain.
using TextSink = std::function<void(std::string_view text)>;

// Adds the request to the engine, where no other may be, and steps until it has ended. Throws Error if it
// cannot be answered.
template <class Device>
Generation generate(Engine<Device>& engine, const GenerationRequest& request, const TextSink& sink);

}  // namespace rung
