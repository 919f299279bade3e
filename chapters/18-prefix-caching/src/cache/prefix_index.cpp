#include "cache/prefix_index.h"

#include <algorithm>

#include "rung/error.h"

namespace rung {

uint64_t chained_hash(uint64_t parent, Span<const int32_t> tokens) {
  uint64_t hash = parent;
  for (const int32_t token : tokens) hash = (hash ^ static_cast<uint32_t>(token)) * 0x100000001b3u;
  return hash;
}

PrefixIndex::PrefixIndex(int64_t blocks, Hash hash) : hash_(hash), entries_(static_cast<size_t>(blocks)) {}

uint64_t PrefixIndex::hash_of(int32_t parent, Span<const int32_t> tokens) const {
  constexpr uint64_t kFirst = 0xcbf29ce484222325u;  // where FNV-1a begins
  return hash_(parent == kNone ? kFirst : entries_[static_cast<size_t>(parent)].hash, tokens);
}

int32_t PrefixIndex::find(int32_t parent, Span<const int32_t> tokens) const {
  // BEGIN SOLUTION 18.1
  const auto [begin, end] = blocks_of_.equal_range(hash_of(parent, tokens));
  for (auto candidate = begin; candidate != end; ++candidate) {
    const Entry& entry = entries_[static_cast<size_t>(candidate->second)];
    if (entry.parent == parent &&
        std::equal(tokens.begin(), tokens.end(), entry.tokens.begin(), entry.tokens.end())) {
      return candidate->second;
    }
  }
  return kNone;
  // STUB: (void)parent, (void)tokens;
  // STUB: not_done("18.1");
  // END SOLUTION
}

void PrefixIndex::insert(int32_t block, int32_t parent, Span<const int32_t> tokens) {
  const uint64_t hash = hash_of(parent, tokens);
  entries_[static_cast<size_t>(block)] = {hash, parent, {tokens.begin(), tokens.end()}};
  blocks_of_.emplace(hash, block);
}

void PrefixIndex::erase(int32_t block) {
  Entry& entry = entries_[static_cast<size_t>(block)];
  const auto [begin, end] = blocks_of_.equal_range(entry.hash);
  blocks_of_.erase(
      std::find_if(begin, end, [&](const auto& hash_and_block) { return hash_and_block.second == block; }));
  entry.tokens.clear();
}

}  // namespace rung
