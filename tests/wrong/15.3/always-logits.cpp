// Wrong: logits are asked for in the middle of a prompt too.
// Expect: engine:
  for (const ScheduledTokens& tokens : step) {
    const Span<const int32_t> ids = scheduler_.sequence(tokens.id).ids;
    batch.add(ids.subspan(static_cast<size_t>(tokens.begin), static_cast<size_t>(tokens.count)), tokens.begin,
              cache_.slot(tokens.row, 0));
    batch.want_logits();
  }
