// Wrong: rows are taken for neighbours although a block ends between them.
// Expect: paged attention:
      int64_t count = 1;
      count = most;
      return {tensor.data<float>() + first(begin), static_cast<size_t>(stride), static_cast<size_t>(count)};
