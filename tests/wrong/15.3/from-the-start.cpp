// Wrong: every entry's tokens are taken from the start of its sequence.
// Expect: engine:
  for (const ScheduledTokens& tokens : step) {
    const Span<const int32_t> ids = scheduler_.sequence(tokens.id).ids;
    batch.add(ids.subspan(0, static_cast<size_t>(tokens.count)), tokens.begin,
              cache_.slot(tokens.row, 0));
    if (tokens.wants_token) batch.want_logits();
  }
