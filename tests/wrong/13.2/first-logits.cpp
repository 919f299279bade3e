// Wrong: the logits of the first pass are given back.
// Expect: got 1 elements, expected 24
  while (cache.length() < end) {
    if (cancelled()) return Tensor();
    const int64_t begin = cache.length();
    Batch batch = part_of_sequence(ids, begin, std::min(begin + transformer.max_tokens(), end));
    if (begin + batch.tokens() < end) batch.logit_rows.clear();
    const Tensor out = transformer.forward(batch, cache);
    if (begin == 0) logits = out;
    progress.advance_to(static_cast<size_t>(cache.length()));
  }
