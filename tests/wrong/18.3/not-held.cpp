// Wrong: blocks that are shared get no further holder.
// Expect: several hold a block
  std::vector<int32_t> blocks = find(tokens);
  const auto shared = static_cast<int64_t>(blocks.size());
  const auto unused =
      std::count_if(blocks.begin(), blocks.end(), [&](int32_t block) { return holders(block) == 0; });
  const int64_t others = needed(static_cast<int64_t>(tokens.size())) - shared;
  if (others > available() - unused) return std::nullopt;
  for (int64_t i = 0; i < others; ++i) blocks.push_back(take_one());
  return Taken{std::move(blocks), shared * block_size_};
