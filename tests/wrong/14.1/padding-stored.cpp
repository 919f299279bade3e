// Wrong: padding, slot -1, is stored like a token.
// Expect: slot -1, element 0
    store_row(keys, slot, new_keys + token * width, width);
    store_row(values, slot, new_values + token * width, width);
