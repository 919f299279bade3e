// Wrong: a cached block that is shared is also counted as one that can be had.
// Expect: a sequence takes nothing if there are not enough blocks
  std::vector<int32_t> blocks = find(tokens);
  const auto shared = static_cast<int64_t>(blocks.size());
  const int64_t others = needed(static_cast<int64_t>(tokens.size())) - shared;
  if (others > available()) return std::nullopt;
  share(blocks);
  for (int64_t i = 0; i < others; ++i) blocks.push_back(take_one());
  return Taken{std::move(blocks), shared * block_size_};
