// Byte pair encoding of one word: start with one token a byte, then join neighbours by the merges that
// training found, the earliest found first, until none applies. Source: Sennrich, Haddow and Birch 2016; on
// bytes: Radford et al. 2019.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rung {

// The tokens left and right, side by side, become the token joined. A merge's rank is its place in the list.
struct Merge {
  int32_t left, right, joined;
};

class Bpe {
 public:
  // byte_tokens: the token of each single byte; -1 for a byte that has none. Throws Error starting with
  // `where` if a pair is merged twice. Precondition: fewer than 2^31 merges.
  Bpe(const std::array<int32_t, 256>& byte_tokens, std::vector<Merge> merges, const std::string& where);

  // Appends the tokens of a word. Bytes that have no token are left out, and their neighbours join as if they
  // stood side by side. Returns how many candidate pairs it took up: fewer than three a byte, however long
  // the word. Precondition: fewer than 2^31 bytes.
  size_t encode(std::string_view word, std::vector<int32_t>& ids) const;

 private:
  uint32_t rank_of(int32_t left, int32_t right) const;

  std::array<int32_t, 256> byte_tokens_;
  std::vector<Merge> merges_;
  std::vector<uint32_t> slots_;  // hash table of ranks: open addressing, a power of two, at most half full
};

}  // namespace rung
