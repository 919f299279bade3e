// Turns a prompt into text, one token after the other.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "model/transformer.h"
#include "tokenizer/tokenizer.h"

namespace rung {

enum class FinishReason : uint8_t {
  stop,    // the model ended its answer
  length,  // max_tokens were generated, or the context is full
};
const char* name(FinishReason reason);

struct GenerationRequest {
  std::vector<int32_t> prompt_ids;  // at least one
  int64_t max_tokens = 256;
  bool ignore_eos = false;  // end tokens do not end the answer
};

struct Generation {
  std::vector<int32_t> output_ids;  // what the model chose, the end token included
  std::string text;                 // their text, special tokens left out
  FinishReason finish_reason = FinishReason::length;
  double prompt_seconds = 0;  // until the first token was chosen
  double decode_seconds = 0;  // all others
};

// Called with each piece of text as soon as it is certain.
using TextSink = std::function<void(std::string_view text)>;

// Throws Error if the prompt is empty or longer than the context, with both numbers.
void check_prompt(const std::vector<int32_t>& prompt_ids, int64_t context);

// Throws Error as check_prompt() does, for the model's context and the transformer's space.
template <class Device>
Generation generate(Transformer<Device>& transformer, const Tokenizer& tokenizer,
                    const GenerationRequest& request, const TextSink& sink);

}  // namespace rung
