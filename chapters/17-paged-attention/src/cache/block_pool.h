// Which blocks of the cache are free, and which tokens some of them still hold.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "cache/kv_cache.h"
#include "rung/span.h"

namespace rung {

// Every block is free or belongs to one sequence. Blocks of sequences that have ended are free, but keep
// their tokens until they are needed, so that a prompt that begins alike can go on from there.
class BlockPool {
 public:
  explicit BlockPool(KvBlocks blocks);

  int64_t total() const { return static_cast<int64_t>(taken_.size()); }
  int64_t free() const { return free_count_; }
  int64_t used() const { return total() - free_count_; }
  int64_t block_size() const { return block_size_; }
  // Blocks for so many tokens.
  int64_t needed(int64_t tokens) const { return (tokens + block_size_ - 1) / block_size_; }

  struct Taken {
    std::vector<int32_t> blocks;
    int64_t cached;  // of the tokens, from the first on, those whose keys and values the blocks hold
  };
  // Blocks for all these tokens: first those of the ended sequence that shares the longest beginning with
  // them (of several the one that ended last), then others. The last token never counts as cached: its logits
  // are wanted. Precondition: at least one token, and needed(tokens) <= free().
  Taken take(Span<const int32_t> tokens);
  // One more. Precondition: free() > 0.
  int32_t take_one();
  // These blocks are free again; they hold the keys and values of these tokens. Throws Error if a block is
  // free already.
  void give_back(const std::vector<int32_t>& blocks, Span<const int32_t> tokens);

 private:
  struct Ended {
    std::vector<int32_t> tokens, blocks;
  };
  int32_t take_empty();

  int64_t block_size_, free_count_;
  std::vector<bool> taken_;     // of each block
  std::vector<int32_t> empty_;  // free blocks that hold nothing, a stack
  std::deque<Ended> ended_;     // all other free blocks; the sequence that ended first comes first
};

}  // namespace rung
