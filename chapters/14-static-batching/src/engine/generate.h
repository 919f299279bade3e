// Turns one prompt into text, one token after the other.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "engine/request.h"
#include "model/transformer.h"
#include "tokenizer/tokenizer.h"

namespace rung {

// Called with each piece of text as soon as it is certain.
using TextSink = std::function<void(std::string_view text)>;

// Prefill: the prompt goes through the model in passes of up to transformer.max_tokens() tokens. Decode: then
// one token a pass. cached: the tokens whose keys and values the first row of the cache holds, from a call
// before; what the prompt shares with them from its beginning on is not computed again, and they are the new
// ones afterwards. Ends with `length` when the row is full. Throws Error as check_prompt() does.
template <class Device>
Generation generate(Transformer<Device>& transformer, KvCache& cache, std::vector<int32_t>& cached,
                    const Tokenizer& tokenizer, const GenerationRequest& request, const TextSink& sink);

}  // namespace rung
