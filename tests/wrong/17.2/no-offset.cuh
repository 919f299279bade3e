// Wrong: the place within the block is forgotten.
// Expect: paged attention:
    const int64_t block = block_table[first_block[sequence] + (key >> block_shift)];
    return (block << block_shift);
