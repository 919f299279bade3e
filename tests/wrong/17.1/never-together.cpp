// Wrong: the tile begins at the block instead of the key.
// Expect: paged attention:
      int64_t count = 1;
      while (count < most && row_of(begin + count) == row_of(begin) + count) ++count;
      return {tensor.data<float>() + first(begin - begin % 2), static_cast<size_t>(stride), static_cast<size_t>(count)};
