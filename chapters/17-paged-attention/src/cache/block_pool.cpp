#include "cache/block_pool.h"

#include <algorithm>
#include <utility>

#include "rung/error.h"

namespace rung {

namespace {

int64_t common_prefix(Span<const int32_t> a, Span<const int32_t> b) {
  const size_t most = std::min(a.size(), b.size());
  return std::mismatch(a.begin(), a.begin() + most, b.begin()).first - a.begin();
}

}  // namespace

BlockPool::BlockPool(KvBlocks blocks)
    : block_size_(blocks.size), free_count_(blocks.count), taken_(static_cast<size_t>(blocks.count)) {
  for (int64_t block = blocks.count - 1; block >= 0; --block) empty_.push_back(static_cast<int32_t>(block));
}

int32_t BlockPool::take_empty() {
  // BEGIN SOLUTION 17.4
  if (empty_.empty()) {
    // What ended longest ago is forgotten first, its last block before its first.
    Ended& oldest = ended_.front();
    empty_.push_back(oldest.blocks.back());
    oldest.blocks.pop_back();
    const auto rest = static_cast<int64_t>(oldest.blocks.size()) * block_size_;
    if (static_cast<int64_t>(oldest.tokens.size()) > rest) oldest.tokens.resize(static_cast<size_t>(rest));
    if (oldest.blocks.empty()) ended_.pop_front();
  }
  const int32_t block = empty_.back();
  empty_.pop_back();
  taken_[static_cast<size_t>(block)] = true;
  --free_count_;
  return block;
  // STUB: not_done("17.4");
  // END SOLUTION
}

int32_t BlockPool::take_one() {
  if (free_count_ == 0) fail("the block pool is empty");
  return take_empty();
}

BlockPool::Taken BlockPool::take(Span<const int32_t> tokens) {
  const Span<const int32_t> all_but_last = tokens.subspan(0, tokens.size() - 1);
  const int64_t blocks = needed(static_cast<int64_t>(tokens.size()));
  if (blocks > free_count_) fail("the block pool has ", free_count_, " free blocks, ", blocks, " are wanted");
  Taken taken{{}, 0};
  auto best = ended_.end();
  for (auto ended = ended_.begin(); ended != ended_.end(); ++ended) {
    const int64_t shared = common_prefix(ended->tokens, all_but_last);
    if (shared > 0 && shared >= taken.cached) best = ended, taken.cached = shared;
  }
  if (best != ended_.end()) {
    const Ended ended = std::move(*best);
    ended_.erase(best);
    const auto kept = static_cast<size_t>(needed(taken.cached));
    for (size_t b = 0; b < ended.blocks.size(); ++b) {
      if (b < kept) {
        taken.blocks.push_back(ended.blocks[b]);
        taken_[static_cast<size_t>(ended.blocks[b])] = true;
        --free_count_;
      } else {
        empty_.push_back(ended.blocks[b]);
      }
    }
  }
  while (static_cast<int64_t>(taken.blocks.size()) < blocks) taken.blocks.push_back(take_empty());
  return taken;
}

void BlockPool::give_back(const std::vector<int32_t>& blocks, Span<const int32_t> tokens) {
  for (const int32_t block : blocks) {
    if (!taken_.at(static_cast<size_t>(block))) fail("block ", block, " is given back, but nobody had it");
    taken_[static_cast<size_t>(block)] = false;
  }
  free_count_ += static_cast<int64_t>(blocks.size());
  const int64_t held = needed(static_cast<int64_t>(tokens.size()));
  for (size_t b = static_cast<size_t>(held); b < blocks.size(); ++b) empty_.push_back(blocks[b]);
  if (held == 0) return;
  ended_.push_back({{tokens.begin(), tokens.end()}, {blocks.begin(), blocks.begin() + held}});
}

}  // namespace rung
