// Wrong: a piece is looked for behind the sequence's first row, as if all of its keys stood in a row.
// Expect: blocks of 1, F32; first difference at index
      int64_t count = 1;
      while (count < most && row_of(begin + count) == row_of(begin) + count) ++count;
      return {tensor.data<float>() + first(0) + begin * stride, static_cast<size_t>(stride), static_cast<size_t>(count)};
