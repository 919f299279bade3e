// Wrong: only keys are stored.
// Expect: store_kv: each token to its slot
    if (slot < 0) return;
    store_row(keys, slot, new_keys + token * width, width);
    (void)values, (void)new_values;
