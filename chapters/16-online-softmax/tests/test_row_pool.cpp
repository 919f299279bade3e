// Rows of the cache: which one a prompt gets, and what it may keep of it.
#include "cache/row_pool.h"

#include "testing/catch.h"

namespace rung {
namespace {

TEST_CASE("row pool: the longest shared beginning wins, then the row that is free longest") {
  using Ids = std::vector<int32_t>;
  RowPool pool(3);
  CHECK(pool.free() == 3);
  const auto take = [&](const Ids& prompt) {
    const RowPool::Taken taken = pool.take(prompt);
    return std::pair<int64_t, int64_t>(taken.row, taken.cached);
  };
  using Pair = std::pair<int64_t, int64_t>;
  CHECK(take({1, 2, 3}) == Pair(0, 0));
  CHECK(take({1, 2, 3}) == Pair(1, 0));
  CHECK(pool.free() == 1);
  pool.give_back(1, Ids{1, 2, 3, 4});
  pool.give_back(0, Ids{1, 2, 7});
  CHECK(take({9}) == Pair(2, 0));
  CHECK(take({1, 2, 7, 4}) == Pair(0, 3));
  pool.give_back(0, Ids{});
  pool.give_back(2, Ids{9});
  CHECK(take({1, 2, 3, 4}) == Pair(1, 3));  // the last token is computed in any case
  CHECK(take({9}) == Pair(0, 0));
  CHECK(take({9, 9}) == Pair(2, 1));
  CHECK(pool.free() == 0);
}

}  // namespace
}  // namespace rung
