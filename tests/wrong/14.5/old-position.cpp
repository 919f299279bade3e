// Wrong: the new token stands where the one before it stood.
// Expect: static batch:
  for (const Row& row : rows) {
    if (row.answer.ended()) {
      batch.add({}, 0, row.first_slot, 1);
    } else {
      batch.add({&row.answer.ids().back(), 1}, std::max<int64_t>(length(row) - 2, 0), row.first_slot);
      batch.want_logits();
    }
  }
