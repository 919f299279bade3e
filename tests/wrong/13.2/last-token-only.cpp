// Wrong: only the last token is fed, so the prompt before it never reaches the cache.
// Expect: the KV cache holds 0 tokens
  while (cache.length() < end) {
    if (cancelled()) return Tensor();
    const int64_t begin = end - 1;
    Batch batch = part_of_sequence(ids, begin, std::min(begin + transformer.max_tokens(), end));
    if (begin + batch.tokens() < end) batch.logit_rows.clear();
    logits = transformer.forward(batch, cache);
    progress.advance_to(static_cast<size_t>(cache.length()));
  }
