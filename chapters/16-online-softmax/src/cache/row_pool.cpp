#include "cache/row_pool.h"

#include <algorithm>

namespace rung {

namespace {

int64_t common_prefix(Span<const int32_t> a, Span<const int32_t> b) {
  const size_t most = std::min(a.size(), b.size());
  return std::mismatch(a.begin(), a.begin() + most, b.begin()).first - a.begin();
}

}  // namespace

RowPool::RowPool(int64_t rows) : tokens_(static_cast<size_t>(rows)) {
  for (int64_t row = 0; row < rows; ++row) free_.push_back(row);
}

RowPool::Taken RowPool::take(Span<const int32_t> prompt) {
  const Span<const int32_t> all_but_last = prompt.subspan(0, prompt.size() - 1);
  size_t best = 0;
  int64_t cached = -1;
  for (size_t i = 0; i < free_.size(); ++i) {
    const int64_t shared = common_prefix(tokens_[static_cast<size_t>(free_[i])], all_but_last);
    if (shared > cached) best = i, cached = shared;
  }
  const Taken taken{free_[best], cached};
  free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(best));
  return taken;
}

void RowPool::give_back(int64_t row, Span<const int32_t> tokens) {
  tokens_[static_cast<size_t>(row)].assign(tokens.begin(), tokens.end());
  free_.push_back(row);
}

}  // namespace rung
