// Wrong: the first token of the answer is fed again and again.
// Expect: static batch:
  for (const Row& row : rows) {
    if (row.answer.ended()) {
      batch.add({}, 0, row.first_slot, 1);
    } else {
      batch.add({&row.answer.ids()[0], 1}, length(row) - 1, row.first_slot);
      batch.want_logits();
    }
  }
