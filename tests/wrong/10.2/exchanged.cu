// Wrong: up goes through SiLU instead of gate.
// Expect: first difference at index 2
    return gate * silu_of(up);
