// Wrong: the first query behind the padding sees one key too few.
// Expect: attention of sequences:
    const int64_t begin = sequences.host_query_begin[s], end = sequences.host_query_begin[s + 1];
    const int64_t context = sequences.host_context[s];
    const int64_t padding = std::max<int64_t>(end - begin - context, 0);
    std::fill_n(outputs + begin * shape.query_stride(), padding * shape.query_stride(), 0.0f);
    const int64_t tokens = end - begin - padding;
    add_tasks(shape, {begin + padding, tokens, 0, 0, context - tokens, sequences.host_first_row[s]},
              tasks);
