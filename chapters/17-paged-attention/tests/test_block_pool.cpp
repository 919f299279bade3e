// Blocks of the cache: who has them, who gets them, and what a free block still holds.
#include "cache/block_pool.h"

#include <random>
#include <set>

#include "testing/catch.h"

namespace rung {
namespace {

using Ids = std::vector<int32_t>;

TEST_CASE("block pool: a pool of five blocks") {
  BlockPool pool({5, 4});
  CHECK(pool.needed(0) == 0);
  CHECK(pool.needed(4) == 1);
  CHECK(pool.needed(5) == 2);
  const BlockPool::Taken a = pool.take(Ids(6, 1)), b = pool.take(Ids(3, 2));
  CHECK(a.blocks == Ids{0, 1});
  CHECK(b.blocks == Ids{2});
  CHECK(pool.free() == 2);
  CHECK(pool.used() == 3);
  CHECK(pool.take_one() == 3);
  pool.give_back(a.blocks, {});
  CHECK(pool.free() == 3);
  CHECK_THROWS_WITH(pool.give_back(a.blocks, {}), Catch::Contains("block 0 is given back"));
  const BlockPool::Taken c = pool.take(Ids(9, 3));  // three blocks, not neighbours
  CHECK(std::set<int32_t>(c.blocks.begin(), c.blocks.end()) == std::set<int32_t>{0, 1, 4});
  CHECK(pool.free() == 0);
  CHECK_THROWS_WITH(pool.take_one(), Catch::Contains("empty"));
  CHECK_THROWS_WITH(pool.take(Ids(1, 1)), Catch::Contains("0 free blocks, 1 are wanted"));
}

TEST_CASE("block pool: a prompt goes on from what an ended sequence has left") {
  BlockPool pool({6, 4});
  const Ids long_one = {1, 2, 3, 4, 5, 6, 7, 8, 9}, other = {1, 2, 3, 9};
  const Ids blocks = pool.take(long_one).blocks;
  pool.give_back(blocks, long_one);
  const Ids others = pool.take(other).blocks;  // takes over the first block for three shared tokens
  CHECK(others == Ids{blocks[0]});
  pool.give_back(others, other);
  CHECK(pool.free() == 6);

  const BlockPool::Taken again = pool.take(long_one);
  CHECK(again.cached == 3);
  CHECK(again.blocks[0] == others[0]);
  pool.give_back(again.blocks, {long_one.data(), 8});  // the last token was not computed
  const BlockPool::Taken whole = pool.take({long_one.data(), 8});
  CHECK(whole.cached == 7);  // the last token is computed in any case
  CHECK(whole.blocks == Ids(again.blocks.begin(), again.blocks.begin() + 2));
}

TEST_CASE("block pool: what ended longest ago is forgotten first, from its end") {
  BlockPool pool({4, 2});
  const Ids a = {1, 1, 1, 1}, b = {2, 2, 2};
  const Ids blocks_a = pool.take(a).blocks, blocks_b = pool.take(b).blocks;
  pool.give_back(blocks_a, a);
  pool.give_back(blocks_b, b);
  CHECK(pool.take_one() == blocks_a[1]);
  CHECK(pool.take(Ids{1, 1, 1}).cached == 2);  // a's first block is still there
  CHECK(pool.take(Ids{2, 9}).cached == 1);
  CHECK(pool.free() == 0);
}

TEST_CASE("block pool: 2,000 random histories lose no block and hand out none twice") {
  for (uint32_t seed = 0; seed < 2000; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto uniform = [&](int64_t least, int64_t most) {
      return least + static_cast<int64_t>(random() % static_cast<uint32_t>(most - least + 1));
    };
    BlockPool pool({uniform(1, 12), uniform(1, 4)});
    struct Holder {
      Ids tokens, blocks;
    };
    std::vector<Holder> holders;
    for (int step = 0; step < 40; ++step) {
      if (!holders.empty() && uniform(0, 2) == 0) {
        const auto which = holders.begin() + uniform(0, static_cast<int64_t>(holders.size()) - 1);
        pool.give_back(which->blocks,
                       {which->tokens.data(),
                        static_cast<size_t>(uniform(0, static_cast<int64_t>(which->tokens.size())))});
        holders.erase(which);
      } else {
        Ids tokens(static_cast<size_t>(uniform(1, 12)));
        for (int32_t& id : tokens) id = static_cast<int32_t>(uniform(0, 1));
        if (pool.needed(static_cast<int64_t>(tokens.size())) > pool.free()) continue;
        const BlockPool::Taken taken = pool.take(tokens);
        REQUIRE(static_cast<int64_t>(taken.blocks.size()) ==
                pool.needed(static_cast<int64_t>(tokens.size())));
        REQUIRE(taken.cached < static_cast<int64_t>(tokens.size()));
        holders.push_back({tokens, taken.blocks});
      }
      std::set<int32_t> used;
      for (const Holder& holder : holders) {
        for (const int32_t block : holder.blocks) {
          REQUIRE((block >= 0 && block < pool.total()));
          REQUIRE(used.insert(block).second);
        }
      }
      REQUIRE(pool.used() == static_cast<int64_t>(used.size()));
      REQUIRE(pool.free() + pool.used() == pool.total());
    }
  }
}

}  // namespace
}  // namespace rung
