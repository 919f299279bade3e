#include "engine/request.h"

#include "rung/error.h"

namespace rung {

const char* name(FinishReason reason) {
  switch (reason) {
    case FinishReason::stop:
      return "stop";
    case FinishReason::length:
      return "length";
    case FinishReason::aborted:
      return "aborted";
    case FinishReason::error:
      return "error";
  }
  return "";
}

void check_prompt(const std::vector<int32_t>& prompt_ids, int64_t context) {
  if (prompt_ids.empty()) fail("the prompt is empty: a model needs at least one token to go on from");
  if (static_cast<int64_t>(prompt_ids.size()) > context) {
    fail("the prompt has ", prompt_ids.size(), " tokens and the context has space for ", context,
         ": --context and --kv-memory set it");
  }
}

}  // namespace rung
