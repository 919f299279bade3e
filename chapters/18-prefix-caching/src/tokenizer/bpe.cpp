// Byte pair encoding with a heap of candidates over a linked list of tokens.
#include "tokenizer/bpe.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "rung/error.h"

namespace rung {

namespace {

constexpr uint32_t kNone = UINT32_MAX;

size_t hash_pair(int32_t left, int32_t right) {
  const uint64_t pair =
      static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
  const uint64_t mixed =
      pair * 0x9e3779b97f4a7c15u;  // 2^64 divided by the golden ratio: spreads neighbouring ids
  return mixed ^ mixed >> 32;
}

// A token of the word, linked to its neighbours.
struct Symbol {
  int32_t id;
  uint32_t previous, next;
  uint32_t rank;  // of the merge with `next`; kNone: there is none, or this symbol has been joined to its
                  // left neighbour
};

// Ordered by rank, then by place: of two equal pairs the left one is joined first.
struct Candidate {
  uint32_t rank, place;
  bool operator>(const Candidate& other) const {
    return rank != other.rank ? rank > other.rank : place > other.place;
  }
};

// Kept from word to word, so that words cost no allocation.
struct Workspace {
  std::vector<Symbol> symbols;
  std::vector<Candidate> heap;
};

}  // namespace

Bpe::Bpe(const std::array<int32_t, 256>& byte_tokens, std::vector<Merge> merges, const std::string& where)
    : byte_tokens_(byte_tokens), merges_(std::move(merges)) {
  size_t size = 16;
  while (size < 2 * merges_.size()) size *= 2;
  slots_.assign(size, kNone);
  for (uint32_t rank = 0; rank < merges_.size(); ++rank) {
    size_t slot = hash_pair(merges_[rank].left, merges_[rank].right) & (size - 1);
    for (; slots_[slot] != kNone; slot = (slot + 1) & (size - 1)) {
      const Merge& other = merges_[slots_[slot]];
      if (other.left == merges_[rank].left && other.right == merges_[rank].right) {
        fail(where, ": elements ", slots_[slot], " and ", rank,
             " join the same two tokens, expected each pair once");
      }
    }
    slots_[slot] = rank;
  }
}

uint32_t Bpe::rank_of(int32_t left, int32_t right) const {
  const size_t mask = slots_.size() - 1;
  for (size_t slot = hash_pair(left, right) & mask; slots_[slot] != kNone; slot = (slot + 1) & mask) {
    const Merge& merge = merges_[slots_[slot]];
    if (merge.left == left && merge.right == right) return slots_[slot];
  }
  return kNone;
}

size_t Bpe::encode(std::string_view word, std::vector<int32_t>& ids) const {
  static thread_local Workspace workspace;
  std::vector<Symbol>& symbols = workspace.symbols;
  std::vector<Candidate>& heap = workspace.heap;
  symbols.clear();
  heap.clear();

  for (const char byte : word) {
    const int32_t id = byte_tokens_[static_cast<unsigned char>(byte)];
    const uint32_t place = static_cast<uint32_t>(symbols.size());
    if (id >= 0) symbols.push_back({id, place - 1, place + 1, kNone});
  }
  if (symbols.empty()) return 0;
  symbols.back().next = kNone;

  size_t taken = 0;
  // BEGIN SOLUTION 04.1
  const auto consider = [&](uint32_t place) {
    Symbol& symbol = symbols[place];
    symbol.rank = symbol.next == kNone ? kNone : rank_of(symbol.id, symbols[symbol.next].id);
    if (symbol.rank == kNone) return;
    heap.push_back({symbol.rank, place});
    std::push_heap(heap.begin(), heap.end(), std::greater<>());
  };
  for (uint32_t place = 0; place < symbols.size(); ++place) consider(place);

  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), std::greater<>());
    const Candidate best = heap.back();
    heap.pop_back();
    ++taken;
    Symbol& left = symbols[best.place];
    if (left.rank != best.rank) continue;  // one of the two has been joined with somebody else since

    Symbol& right = symbols[left.next];
    left.id = merges_[best.rank].joined;
    left.next = right.next;
    right.rank = kNone;
    if (left.next != kNone) symbols[left.next].previous = best.place;
    consider(best.place);
    if (left.previous != kNone) consider(left.previous);
  }
  // STUB: not_done("04.1");
  // END SOLUTION

  for (uint32_t place = 0; place != kNone; place = symbols[place].next) ids.push_back(symbols[place].id);
  return taken;
}

}  // namespace rung
