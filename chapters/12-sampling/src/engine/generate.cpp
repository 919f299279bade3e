// The generation loop: all tokens through the model, one more chosen, and again.
#include "engine/generate.h"

#include <algorithm>

#include "engine/stop_strings.h"
#include "engine/token_choice.h"
#include "rung/error.h"
#include "rung/timer.h"
#include "tokenizer/stream_decoder.h"

namespace rung {

const char* name(FinishReason reason) {
  return reason == FinishReason::stop ? "stop" : reason == FinishReason::length ? "length" : "aborted";
}

void check_prompt(const std::vector<int32_t>& prompt_ids, int64_t context) {
  if (prompt_ids.empty()) fail("the prompt is empty: a model needs at least one token to go on from");
  if (static_cast<int64_t>(prompt_ids.size()) > context) {
    fail("the prompt has ", prompt_ids.size(), " tokens and the context has space for ", context);
  }
}

template <class Device>
Generation generate(Transformer<Device>& transformer, const Tokenizer& tokenizer,
                    const GenerationRequest& request, const TextSink& sink) {
  check_sampling(request.sampling);
  const int64_t context =
      std::min<int64_t>(transformer.hyperparameters().context_length, transformer.max_tokens());
  check_prompt(request.prompt_ids, context);
  std::vector<int32_t> ids = request.prompt_ids;

  StreamDecoder decoder;
  StopStrings stop(request.stop);
  Generation result;
  const auto pass_on = [&](const std::string& text) {
    result.text += text;
    if (!text.empty()) sink(text);
  };
  Timer timer;
  while (static_cast<int64_t>(result.output_ids.size()) < request.max_tokens &&
         static_cast<int64_t>(ids.size()) <= context) {
    if (request.cancelled != nullptr && request.cancelled->load()) {
      result.finish_reason = FinishReason::aborted;
      break;
    }
    const Tensor logits = transformer.forward(whole_sequence(ids));
    const TokenChoice choice = choose_token(transformer.device(), logits, ids, request.sampling,
                                            result.output_ids.size(), request.log_probabilities);
    if (result.output_ids.empty()) result.prompt_seconds = timer.seconds();
    result.output_ids.push_back(choice.id);
    if (request.log_probabilities) result.log_probabilities.push_back(choice.log_probability);
    ids.push_back(choice.id);
    if (tokenizer.is_end(choice.id) && !request.ignore_eos) {
      result.finish_reason = FinishReason::stop;
      break;
    }
    if (!tokenizer.is_special(choice.id)) pass_on(stop.push(decoder.push(tokenizer.piece(choice.id))));
    if (stop.matched()) break;
  }
  pass_on(stop.push(decoder.finish()));
  pass_on(stop.finish());
  if (stop.matched()) result.finish_reason = FinishReason::stop;
  result.decode_seconds = timer.seconds() - result.prompt_seconds;
  return result;
}

template Generation generate(Transformer<Cpu>&, const Tokenizer&, const GenerationRequest&, const TextSink&);
template Generation generate(Transformer<Cuda>&, const Tokenizer&, const GenerationRequest&, const TextSink&);

}  // namespace rung
