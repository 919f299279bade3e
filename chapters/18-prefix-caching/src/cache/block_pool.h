// Who holds which block of the cache, and which blocks hold tokens that others can use too.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <vector>

#include "cache/kv_cache.h"
#include "cache/prefix_index.h"

namespace rung {

// A block is held by one sequence, or by several that begin alike. Full blocks that have been computed are
// published: others find them by their tokens. One that nobody holds any more stays published until its
// memory is needed; the one unused for longest goes first.
class BlockPool {
 public:
  // hash: for tests that want collisions.
  explicit BlockPool(KvBlocks blocks, PrefixIndex::Hash hash = chained_hash);

  int64_t total() const { return static_cast<int64_t>(holders_.size()); }
  // Every block is one of these: free + cached + used == total.
  int64_t free() const { return static_cast<int64_t>(empty_.size()); }     // holds nothing
  int64_t cached() const { return static_cast<int64_t>(unused_.size()); }  // published, held by nobody
  int64_t used() const { return used_; }
  // Those that can be had.
  int64_t available() const { return free() + cached(); }
  int64_t block_size() const { return block_size_; }
  // Blocks for so many tokens.
  int64_t needed(int64_t tokens) const { return (tokens + block_size_ - 1) / block_size_; }
  int64_t holders(int32_t block) const { return holders_[static_cast<size_t>(block)]; }
  bool published(int32_t block) const { return index_.contains(block); }

  struct Taken {
    std::vector<int32_t> blocks;
    int64_t cached;  // of the tokens, from the first on, those whose keys and values the blocks hold
  };
  // Blocks for all these tokens: as far as there are any, published ones that hold them, then others. The
  // last token never counts as held: its logits are wanted. Nothing, and nothing is changed, if there are not
  // enough blocks. Precondition: at least one token.
  std::optional<Taken> take(Span<const int32_t> tokens);
  // One more, which nobody else holds. Precondition: available() > 0.
  int32_t take_one();
  // One holder more for each of these blocks.
  void share(Span<const int32_t> blocks);
  // One holder less for each. Precondition: neighbours come in the order of the sequence. Throws Error if
  // nobody holds one of them.
  void give_back(Span<const int32_t> blocks);
  // The block holds the keys and values of these tokens, which fill it, after those of the parent (a
  // published block or PrefixIndex::kNone), and nobody will write to it again. Returns the block that its
  // holder has from now on: another one, if another has been published with the same contents before.
  int32_t publish(int32_t block, int32_t parent, Span<const int32_t> tokens);

 private:
  std::vector<int32_t> find(Span<const int32_t> tokens) const;

  int64_t block_size_, used_ = 0;
  std::vector<int64_t> holders_;                     // of each block
  std::vector<int32_t> empty_;                       // a stack
  std::list<int32_t> unused_;                        // published and held by nobody, unused for longest first
  std::vector<std::list<int32_t>::iterator> place_;  // of each block, in unused_ if it is there
  PrefixIndex index_;
};

}  // namespace rung
