// Wrong: gate is multiplied as it is.
// Expect: ?
    y[i] = gate[i] * up[i];
