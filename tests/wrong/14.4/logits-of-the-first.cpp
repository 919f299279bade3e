// Wrong: the logits of the first columns are asked for.
// Expect: static batch:
  for (const Row& row : rows) {
    const int64_t missing = columns - length(row);
    const int64_t first = std::clamp(missing, begin, end);  // the first column that is not padding
    const Span<const int32_t> ids = row.answer.ids();
    const int64_t position = std::max<int64_t>(first - missing, 0);
    batch.add(ids.subspan(static_cast<size_t>(position), static_cast<size_t>(end - first)), position,
              row.first_slot, first - begin);
    if (begin == 0) batch.want_logits();
  }
