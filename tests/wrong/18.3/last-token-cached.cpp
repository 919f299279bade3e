// Wrong: a prompt that is cached to its end leaves no token to compute.
// Expect: the last token never counts as held
  std::vector<int32_t> blocks;
  const auto size = static_cast<size_t>(block_size_);
  int32_t parent = PrefixIndex::kNone;
  for (size_t begin = 0; begin + size <= tokens.size(); begin += size) {
    parent = index_.find(parent, tokens.subspan(begin, size));
    if (parent == PrefixIndex::kNone) break;
    blocks.push_back(parent);
  }
  const auto shared = static_cast<int64_t>(blocks.size());
  const auto unused =
      std::count_if(blocks.begin(), blocks.end(), [&](int32_t block) { return holders(block) == 0; });
  const int64_t others = needed(static_cast<int64_t>(tokens.size())) - shared;
  if (others > available() - unused) return std::nullopt;
  share(blocks);
  for (int64_t i = 0; i < others; ++i) blocks.push_back(take_one());
  return Taken{std::move(blocks), shared * block_size_};
