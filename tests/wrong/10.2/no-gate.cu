// Wrong: gate is multiplied as it is.
// Expect: first difference at index 2
    return gate * up;
