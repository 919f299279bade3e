// Wrong: every sequence reads the block table of the first.
// Expect: paged attention:
    const int64_t block = block_table[(key >> block_shift)];
    return (block << block_shift) + (key & ((int64_t{1} << block_shift) - 1));
