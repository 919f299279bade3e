// Wrong: up goes through SiLU instead of gate.
// Expect: first difference at index 2
    y[i] = gate[i] * silu_of(up[i]);
