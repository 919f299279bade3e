// The generation loop: prefill, then one token after the other.
#include "engine/generate.h"

#include <algorithm>

#include "engine/answer.h"
#include "engine/token_choice.h"
#include "rung/error.h"
#include "rung/progress.h"

namespace rung {

namespace {

// Logits of the last of ids, after all of them that are not cached yet have been through the model; an empty
// Tensor if the answer is cancelled before a pass. A prompt takes several passes, a decode step one of a
// single token.
template <class Device>
Tensor forward_rest(Transformer<Device>& transformer, KvCache& cache, std::vector<int32_t>& cached,
                    const Answer& answer) {
  const std::vector<int32_t>& ids = answer.ids();
  const int64_t end = static_cast<int64_t>(ids.size());
  Progress progress("prefill", ids.size());
  Tensor logits;
  while (static_cast<int64_t>(cached.size()) < end) {
    if (answer.cancelled()) return Tensor();
    const auto begin = static_cast<int64_t>(cached.size());
    Batch batch = part_of_sequence(ids, begin, std::min(begin + transformer.max_tokens(), end));
    if (begin + batch.tokens() < end) batch.logit_rows.clear();
    logits = transformer.forward(batch, cache);
    cached.insert(cached.end(), batch.ids.begin(), batch.ids.end());
    progress.advance_to(cached.size());
  }
  return logits;
}

}  // namespace

template <class Device>
Generation generate(Transformer<Device>& transformer, KvCache& cache, std::vector<int32_t>& cached,
                    const Tokenizer& tokenizer, const GenerationRequest& request, const TextSink& sink) {
  Answer answer(tokenizer, request, cache.context());
  TokenChooser<Device> chooser(transformer.device(), 1);
  const auto pass_on = [&](const std::string& text) {
    if (!text.empty()) sink(text);
  };
  if (!answer.ended()) {
    // The last token's logits are wanted, so it is computed in any case.
    const std::vector<int32_t>& ids = answer.ids();
    const size_t most = std::min(ids.size() - 1, cached.size());
    cached.erase(
        std::mismatch(cached.begin(), cached.begin() + static_cast<int64_t>(most), ids.begin()).first,
        cached.end());
    answer.result().cached_tokens = static_cast<int64_t>(cached.size());
  }
  while (!answer.ended()) {
    const Tensor logits = forward_rest(transformer, cache, cached, answer);
    if (logits.empty()) {
      pass_on(answer.end(FinishReason::aborted));
    } else {
      pass_on(answer.push(chooser.choose(logits, {answer.choice()})[0]));
    }
  }
  if (answer.result().finish_reason == FinishReason::error) fail(answer.result().error);
  return answer.result();
}

template Generation generate(Transformer<Cpu>&, KvCache&, std::vector<int32_t>&, const Tokenizer&,
                             const GenerationRequest&, const TextSink&);
template Generation generate(Transformer<Cuda>&, KvCache&, std::vector<int32_t>&, const Tokenizer&,
                             const GenerationRequest&, const TextSink&);

}  // namespace rung
