// Which rows of the cache are free, and which tokens each of them still holds.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "rung/span.h"

namespace rung {

class RowPool {
 public:
  explicit RowPool(int64_t rows);

  int64_t free() const { return static_cast<int64_t>(free_.size()); }

  struct Taken {
    int64_t row;
    int64_t cached;  // tokens of the prompt, from its beginning on, whose keys and values the row holds
  };
  // Takes the free row that shares the longest beginning with the prompt (of several the one that is free
  // longest). The prompt's last token never counts as cached: its logits are wanted. Precondition: free() > 0
  // and the prompt is not empty.
  Taken take(Span<const int32_t> prompt);
  // The row is free again, and holds the keys and values of these tokens.
  void give_back(int64_t row, Span<const int32_t> tokens);

 private:
  std::deque<int64_t> free_;                  // longest free first
  std::vector<std::vector<int32_t>> tokens_;  // of each row
};

}  // namespace rung
