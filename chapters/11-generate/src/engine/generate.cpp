// The generation loop: all tokens through the model, one more chosen, and again.
#include "engine/generate.h"

#include <algorithm>

#include "ops/argmax.h"
#include "rung/error.h"
#include "rung/timer.h"
#include "tokenizer/stream_decoder.h"

namespace rung {

const char* name(FinishReason reason) {
  return reason == FinishReason::stop ? "stop" : "length";
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
  const int64_t context =
      std::min<int64_t>(transformer.hyperparameters().context_length, transformer.max_tokens());
  check_prompt(request.prompt_ids, context);
  std::vector<int32_t> ids = request.prompt_ids;

  Device& device = transformer.device();
  Tensor choice = empty(device, DType::i32, {1});
  StreamDecoder decoder;
  Generation result;
  const auto pass_on = [&](const std::string& text) {
    result.text += text;
    if (!text.empty()) sink(text);
  };
  Timer timer;
  // BEGIN SOLUTION 11.2
  while (static_cast<int64_t>(result.output_ids.size()) < request.max_tokens &&
         static_cast<int64_t>(ids.size()) <= context) {
    argmax(device, choice, transformer.forward(whole_sequence(ids)));
    const int32_t token = download(device, choice).template data<int32_t>()[0];
    if (result.output_ids.empty()) result.prompt_seconds = timer.seconds();
    result.output_ids.push_back(token);
    ids.push_back(token);
    if (tokenizer.is_end(token) && !request.ignore_eos) {
      result.finish_reason = FinishReason::stop;
      break;
    }
    if (!tokenizer.is_special(token)) pass_on(decoder.push(tokenizer.piece(token)));
  }
  // STUB: (void)choice, (void)tokenizer;
  // STUB: not_done("11.2");
  // END SOLUTION
  pass_on(decoder.finish());
  result.decode_seconds = timer.seconds() - result.prompt_seconds;
  return result;
}

template Generation generate(Transformer<Cpu>&, const Tokenizer&, const GenerationRequest&, const TextSink&);
template Generation generate(Transformer<Cuda>&, const Tokenizer&, const GenerationRequest&, const TextSink&);

}  // namespace rung
