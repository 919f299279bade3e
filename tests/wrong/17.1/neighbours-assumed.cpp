// Wrong: rows are taken for neighbours although a block ends between them.
// Expect: blocks of 1, F32; first difference at index
      const int64_t count = most;
      return {tensor.data<float>() + first(begin), static_cast<size_t>(stride), static_cast<size_t>(count)};
