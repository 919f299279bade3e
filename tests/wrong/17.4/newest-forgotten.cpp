// Wrong: what ended last is forgotten first.
// Expect: block pool:
  if (empty_.empty()) {
    // What ended longest ago is forgotten first, its last block before its first.
    Ended& oldest = ended_.back();
    empty_.push_back(oldest.blocks.back());
    oldest.blocks.pop_back();
    const auto rest = static_cast<int64_t>(oldest.blocks.size()) * block_size_;
    if (static_cast<int64_t>(oldest.tokens.size()) > rest) oldest.tokens.resize(static_cast<size_t>(rest));
    if (oldest.blocks.empty()) ended_.pop_back();
  }
  const int32_t block = empty_.back();
  empty_.pop_back();
  taken_[static_cast<size_t>(block)] = true;
  --free_count_;
  return block;
