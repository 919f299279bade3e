// Wrong: all tokens get the first one's position.
// Expect: kv cache:
  for (const int32_t id : tokens) {
    ids.push_back(id);
    positions.push_back(static_cast<int32_t>(position));
    const int64_t block = blocks[static_cast<size_t>(position / block_size)];
    slot_mapping.push_back(static_cast<int32_t>(block * block_size + position % block_size));
  }
  const int64_t used = (end + block_size - 1) / block_size;
  first_block.push_back(static_cast<int32_t>(block_table.size()));
  block_table.insert(block_table.end(), blocks.begin(), blocks.begin() + used);
  query_begin.push_back(static_cast<int32_t>(ids.size()));
  context.push_back(static_cast<int32_t>(end));
