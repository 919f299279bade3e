// Wrong: up goes through SiLU instead of gate.
// Expect: ?
    y[i] = gate[i] * silu_of(up[i]);
