// Finds the block that holds given tokens after a given beginning.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "rung/span.h"

namespace rung {

// A hash of everything up to the end of a block: of its tokens, chained to the hash of what comes before
// them. FNV-1a (Fowler, Noll, Vo) over whole tokens, from the parent's hash on.
uint64_t chained_hash(uint64_t parent, Span<const int32_t> tokens);

// Keys and values of a token depend on all tokens before it. So a full block is known by its tokens and by
// the block before it, its parent, and both are compared: a hash only says where to look.
class PrefixIndex {
 public:
  using Hash = uint64_t (*)(uint64_t parent, Span<const int32_t> tokens);
  static constexpr int32_t kNone = -1;  // as a parent: these are the first tokens of a sequence

  explicit PrefixIndex(int64_t blocks, Hash hash = chained_hash);

  // The block that holds these tokens after the parent's, or kNone.
  int32_t find(int32_t parent, Span<const int32_t> tokens) const;
  // From now on this block is found. Preconditions: it is not in the index, the parent is, and no other block
  // holds the same.
  void insert(int32_t block, int32_t parent, Span<const int32_t> tokens);
  // Precondition: the block is in the index and nobody's parent, or a block that later takes its number could
  // be taken for it.
  void erase(int32_t block);
  bool contains(int32_t block) const { return !entries_[static_cast<size_t>(block)].tokens.empty(); }

 private:
  struct Entry {
    uint64_t hash;
    int32_t parent;
    std::vector<int32_t> tokens;  // none: the block is not in the index
  };
  uint64_t hash_of(int32_t parent, Span<const int32_t> tokens) const;

  Hash hash_;
  std::vector<Entry> entries_;                            // of each block
  std::unordered_multimap<uint64_t, int32_t> blocks_of_;  // of each hash
};

}  // namespace rung
