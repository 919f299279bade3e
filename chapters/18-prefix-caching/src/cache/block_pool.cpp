#include "cache/block_pool.h"

#include <algorithm>

#include "rung/error.h"

namespace rung {

BlockPool::BlockPool(KvBlocks blocks, PrefixIndex::Hash hash)
    : block_size_(blocks.size),
      holders_(static_cast<size_t>(blocks.count)),
      place_(static_cast<size_t>(blocks.count)),
      index_(blocks.count, hash) {
  for (int64_t block = blocks.count - 1; block >= 0; --block) empty_.push_back(static_cast<int32_t>(block));
}

int32_t BlockPool::take_one() {
  if (available() == 0) fail("the block pool is empty");
  if (empty_.empty()) {
    const int32_t oldest = unused_.front();
    unused_.pop_front();
    index_.erase(oldest);
    empty_.push_back(oldest);
  }
  const int32_t block = empty_.back();
  empty_.pop_back();
  holders_[static_cast<size_t>(block)] = 1;
  ++used_;
  return block;
}

void BlockPool::share(Span<const int32_t> blocks) {
  for (const int32_t block : blocks) {
    if (holders_[static_cast<size_t>(block)]++ > 0) continue;
    unused_.erase(place_[static_cast<size_t>(block)]);
    ++used_;
  }
}

void BlockPool::give_back(Span<const int32_t> blocks) {
  // BEGIN SOLUTION 18.2
  // The last block first, so that no block is unused for longer than one behind it.
  for (size_t i = blocks.size(); i-- > 0;) {
    const int32_t block = blocks[i];
    int64_t& holders = holders_.at(static_cast<size_t>(block));
    if (holders == 0) fail("block ", block, " is given back, but nobody has it");
    if (--holders > 0) continue;
    --used_;
    if (published(block)) {
      place_[static_cast<size_t>(block)] = unused_.insert(unused_.end(), block);
    } else {
      empty_.push_back(block);
    }
  }
  // STUB: (void)blocks;
  // STUB: not_done("18.2");
  // END SOLUTION
}

// The published blocks that hold the tokens, from the first on, the last token left out.
std::vector<int32_t> BlockPool::find(Span<const int32_t> tokens) const {
  std::vector<int32_t> found;
  const auto size = static_cast<size_t>(block_size_);
  int32_t parent = PrefixIndex::kNone;
  for (size_t begin = 0; begin + size < tokens.size(); begin += size) {
    parent = index_.find(parent, tokens.subspan(begin, size));
    if (parent == PrefixIndex::kNone) break;
    found.push_back(parent);
  }
  return found;
}

std::optional<BlockPool::Taken> BlockPool::take(Span<const int32_t> tokens) {
  // BEGIN SOLUTION 18.3
  std::vector<int32_t> blocks = find(tokens);
  const auto shared = static_cast<int64_t>(blocks.size());
  const auto unused =
      std::count_if(blocks.begin(), blocks.end(), [&](int32_t block) { return holders(block) == 0; });
  const int64_t others = needed(static_cast<int64_t>(tokens.size())) - shared;
  if (others > available() - unused) return std::nullopt;
  share(blocks);
  for (int64_t i = 0; i < others; ++i) blocks.push_back(take_one());
  return Taken{std::move(blocks), shared * block_size_};
  // STUB: (void)tokens;
  // STUB: not_done("18.3");
  // END SOLUTION
}

int32_t BlockPool::publish(int32_t block, int32_t parent, Span<const int32_t> tokens) {
  const int32_t first = index_.find(parent, tokens);
  if (first == PrefixIndex::kNone) {
    index_.insert(block, parent, tokens);
    return block;
  }
  if (first != block) {
    share({&first, 1});
    give_back({&block, 1});
  }
  return first;
}

}  // namespace rung
