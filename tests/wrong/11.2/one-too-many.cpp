// Wrong: max_tokens + 1 tokens are generated.
// Expect: got 25 elements, expected 24
  while (static_cast<int64_t>(result.output_ids.size()) <= request.max_tokens &&
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
