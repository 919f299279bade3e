// The generation loop: prefill, then one token after the other.
#include "engine/generate.h"

#include <algorithm>

#include "engine/stop_strings.h"
#include "engine/token_choice.h"
#include "rung/error.h"
#include "rung/progress.h"
#include "rung/timer.h"
#include "tokenizer/stream_decoder.h"

namespace rung {

const char* name(FinishReason reason) {
  return reason == FinishReason::stop ? "stop" : reason == FinishReason::length ? "length" : "aborted";
}

void check_prompt(const std::vector<int32_t>& prompt_ids, int64_t context) {
  if (prompt_ids.empty()) fail("the prompt is empty: a model needs at least one token to go on from");
  if (static_cast<int64_t>(prompt_ids.size()) > context) {
    fail("the prompt has ", prompt_ids.size(), " tokens and the context has space for ", context,
         ": --context sets it");
  }
}

namespace {

// Logits of the last of ids, after all of them that the cache does not hold yet have been through the model;
// an empty Tensor if cancelled() says so before a pass. A prompt takes several passes, a decode step one of a
// single token.
template <class Device, class Cancelled>
Tensor forward_rest(Transformer<Device>& transformer, KvCache& cache, const std::vector<int32_t>& ids,
                    Cancelled cancelled) {
  const int64_t end = static_cast<int64_t>(ids.size());
  Progress progress("prefill", ids.size());
  Tensor logits;
  // BEGIN SOLUTION 13.2
  while (cache.length() < end) {
    if (cancelled()) return Tensor();
    const int64_t begin = cache.length();
    Batch batch = part_of_sequence(ids, begin, std::min(begin + transformer.max_tokens(), end));
    if (begin + batch.tokens() < end) batch.logit_rows.clear();
    logits = transformer.forward(batch, cache);
    progress.advance_to(static_cast<size_t>(cache.length()));
  }
  // STUB: (void)end, (void)cancelled, (void)transformer, (void)cache;
  // STUB: not_done("13.2");
  // END SOLUTION
  return logits;
}

}  // namespace

template <class Device>
Generation generate(Transformer<Device>& transformer, KvCache& cache, const Tokenizer& tokenizer,
                    const GenerationRequest& request, const TextSink& sink) {
  check_sampling(request.sampling);
  check_prompt(request.prompt_ids, cache.context());
  std::vector<int32_t> ids = request.prompt_ids;

  StreamDecoder decoder;
  StopStrings stop(request.stop);
  Generation result;
  const auto pass_on = [&](const std::string& text) {
    result.text += text;
    if (!text.empty()) sink(text);
  };
  const auto cancelled = [&] { return request.cancelled != nullptr && request.cancelled->load(); };
  // The last token's logits are wanted, so it is computed in any case.
  cache.truncate(std::min<int64_t>(cache.keep_common_prefix(ids), static_cast<int64_t>(ids.size()) - 1));
  result.cached_tokens = cache.length();
  Timer timer;
  while (static_cast<int64_t>(result.output_ids.size()) < request.max_tokens &&
         static_cast<int64_t>(ids.size()) <= cache.context()) {
    const Tensor logits = forward_rest(transformer, cache, ids, cancelled);
    if (logits.empty()) {
      result.finish_reason = FinishReason::aborted;
      break;
    }
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
    if (stop.matched()) {
      result.finish_reason = FinishReason::stop;
      break;
    }
  }
  pass_on(stop.push(decoder.finish()));
  pass_on(stop.finish());
  result.decode_seconds = timer.seconds() - result.prompt_seconds;
  return result;
}

template Generation generate(Transformer<Cpu>&, KvCache&, const Tokenizer&, const GenerationRequest&,
                             const TextSink&);
template Generation generate(Transformer<Cuda>&, KvCache&, const Tokenizer&, const GenerationRequest&,
                             const TextSink&);

}  // namespace rung
