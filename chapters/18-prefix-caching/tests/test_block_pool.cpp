// Blocks of the cache: who holds them, who shares them, and which are forgotten first.
#include "cache/block_pool.h"

#include <algorithm>
#include <map>
#include <random>

#include "testing/catch.h"

namespace rung {
namespace {

using Ids = std::vector<int32_t>;

// Publishes all full blocks that these tokens fill, as a sequence does that has computed them.
void publish(BlockPool& pool, Ids& blocks, Span<const int32_t> tokens) {
  const auto size = static_cast<size_t>(pool.block_size());
  for (size_t b = 0; (b + 1) * size <= tokens.size(); ++b) {
    blocks[b] =
        pool.publish(blocks[b], b == 0 ? PrefixIndex::kNone : blocks[b - 1], tokens.subspan(b * size, size));
  }
}

TEST_CASE("given back: a block that nobody has any more is empty, or cached if it is published") {
  BlockPool pool({4, 2});
  Ids a = {pool.take_one(), pool.take_one()};
  publish(pool, a, Ids{1, 2, 3});  // the second is not full
  pool.share({a.data(), 1});       // somebody else begins alike
  pool.give_back(a);
  CHECK(pool.holders(a[0]) == 1);
  CHECK(pool.used() == 1);
  CHECK(pool.free() == 3);
  CHECK(pool.cached() == 0);
  pool.give_back({a.data(), 1});
  CHECK(pool.used() == 0);
  CHECK(pool.free() == 3);
  CHECK(pool.cached() == 1);
  CHECK_THROWS_WITH(pool.give_back({a.data(), 1}), Catch::Contains("block 0 is given back"));
}

TEST_CASE("given back: the block unused for longest is forgotten first, a sequence from its end") {
  BlockPool pool({5, 2});
  Ids a = {pool.take_one(), pool.take_one()}, b = {pool.take_one(), pool.take_one()};
  publish(pool, a, Ids{1, 1, 2, 2});
  publish(pool, b, Ids{3, 3, 4, 4});
  pool.give_back(a);
  pool.give_back(b);
  Ids order;
  for (int i = 0; i < 5; ++i) order.push_back(pool.take_one());
  CHECK(order == Ids{4, a[1], a[0], b[1], b[0]});  // the first was never used
}

TEST_CASE("block pool: a pool of five blocks") {
  BlockPool pool({5, 4});
  CHECK(pool.needed(0) == 0);
  CHECK(pool.needed(4) == 1);
  CHECK(pool.needed(5) == 2);
  const Ids a = pool.take(Ids(6, 1))->blocks, b = pool.take(Ids(3, 2))->blocks;
  CHECK(a == Ids{0, 1});
  CHECK(b == Ids{2});
  CHECK(pool.free() == 2);
  CHECK(pool.used() == 3);
  CHECK(pool.take_one() == 3);
  pool.give_back(a);
  CHECK(pool.free() == 3);
  CHECK(pool.cached() == 0);  // nothing was published
  CHECK_THROWS_WITH(pool.give_back(a), Catch::Contains("block 1 is given back"));
  CHECK(pool.take(Ids(9, 3)).has_value());
  CHECK(pool.free() == 0);
  CHECK_THROWS_WITH(pool.take_one(), Catch::Contains("empty"));
  CHECK_FALSE(pool.take(Ids(1, 1)).has_value());
}

TEST_CASE("block pool: several hold a block, and it is nobody's when the last has given it back") {
  BlockPool pool({4, 2});
  const Ids tokens = {1, 2, 3, 4, 5};
  Ids a = pool.take(tokens)->blocks;
  CHECK_FALSE(pool.take(tokens).has_value());  // nothing is published, so three more are needed
  publish(pool, a, {tokens.data(), 4});
  const BlockPool::Taken b = *pool.take(tokens);
  CHECK(b.cached == 4);
  CHECK(b.blocks[0] == a[0]);
  CHECK(b.blocks[1] == a[1]);
  CHECK(b.blocks[2] != a[2]);
  CHECK(pool.used() == 4);
  CHECK(pool.holders(a[0]) == 2);
  pool.give_back(a);
  CHECK(pool.used() == 3);
  CHECK(pool.free() == 1);
  pool.give_back(b.blocks);
  CHECK(pool.used() == 0);
  CHECK(pool.free() == 2);
  CHECK(pool.cached() == 2);
}

TEST_CASE("block pool: the last token never counts as held") {
  BlockPool pool({9, 4});
  const Ids tokens = {1, 2, 3, 4, 5, 6, 7, 8};
  Ids blocks = pool.take(tokens)->blocks;
  publish(pool, blocks, tokens);
  pool.give_back(blocks);
  CHECK(pool.cached() == 2);
  const BlockPool::Taken again =
      *pool.take(tokens);  // all of it is there, and its second half is computed again
  CHECK(again.cached == 4);
  CHECK(again.blocks[1] != blocks[1]);
  CHECK(pool.take({tokens.data(), 4})->cached == 0);
  CHECK(pool.take({tokens.data(), 5})->cached == 4);
}

TEST_CASE("block pool: what was unused for longest is forgotten first, a sequence from its end") {
  BlockPool pool({6, 2});
  const Ids a = {1, 1, 2, 2}, b = {3, 3, 4, 4}, c = {1, 1, 5, 5};
  Ids in_a = pool.take(a)->blocks, in_b = pool.take(b)->blocks;
  publish(pool, in_a, a);
  publish(pool, in_b, b);
  pool.give_back(in_a);
  pool.give_back(in_b);
  Ids in_c = pool.take(c)->blocks;  // uses the first block of a
  CHECK(in_c[0] == in_a[0]);
  publish(pool, in_c, c);
  pool.give_back(in_c);
  CHECK(pool.cached() == 5);
  std::map<int32_t, int> order;
  for (int i = 0; i < 6; ++i) order[pool.take_one()] = i;
  CHECK(order[in_a[1]] == 1);  // after the block that was never used
  CHECK(order[in_b[1]] == 2);
  CHECK(order[in_b[0]] == 3);
  CHECK(order[in_c[1]] == 4);
  CHECK(order[in_a[0]] == 5);
}

TEST_CASE("block pool: of two blocks that were computed alike one stays") {
  BlockPool pool({6, 2});
  const Ids tokens = {1, 2, 3, 4, 5};
  Ids a = pool.take(tokens)->blocks, b = pool.take(tokens)->blocks;  // at the same time
  CHECK(pool.used() == 6);
  publish(pool, a, {tokens.data(), 4});
  publish(pool, b, {tokens.data(), 4});
  CHECK(b[0] == a[0]);
  CHECK(b[1] == a[1]);
  CHECK(b[2] != a[2]);
  CHECK(pool.used() == 4);
  CHECK(pool.free() == 2);
  publish(pool, b, {tokens.data(), 4});  // once more changes nothing
  CHECK(pool.holders(a[0]) == 2);
}

TEST_CASE("block pool: a sequence takes nothing if there are not enough blocks") {
  BlockPool pool({4, 2});
  const Ids tokens = {1, 2, 3, 4, 5, 6};
  Ids blocks = pool.take({tokens.data(), 4})->blocks;
  publish(pool, blocks, {tokens.data(), 4});
  pool.give_back(blocks);
  const Ids held = pool.take(Ids{9, 9, 9})->blocks;
  // Two blocks can be had, but both hold the beginning: the third is missing.
  CHECK(pool.available() == 2);
  CHECK_FALSE(pool.take(tokens).has_value());
  CHECK(pool.cached() == 2);
  CHECK(pool.used() == 2);
  CHECK(pool.take({tokens.data(), 4})->cached == 2);
}

uint64_t no_hash(uint64_t, Span<const int32_t>) {
  return 7;
}

TEST_CASE("prefix index: a block is found by its tokens and by what stands before them") {
  for (const PrefixIndex::Hash hash : {&chained_hash, &no_hash}) {
    PrefixIndex index(8, hash);
    const Ids x = {1, 2}, y = {3, 4};
    CHECK(index.find(PrefixIndex::kNone, x) == PrefixIndex::kNone);
    index.insert(5, PrefixIndex::kNone, x);
    index.insert(2, PrefixIndex::kNone, y);
    index.insert(3, 5, y);
    index.insert(4, 2, y);
    CHECK(index.find(PrefixIndex::kNone, x) == 5);
    CHECK(index.find(PrefixIndex::kNone, y) == 2);
    CHECK(index.find(5, y) == 3);  // x y
    CHECK(index.find(2, y) == 4);  // y y
    CHECK(index.find(3, y) == PrefixIndex::kNone);
    CHECK(index.find(2, x) == PrefixIndex::kNone);
    index.erase(3);
    CHECK_FALSE(index.contains(3));
    CHECK(index.contains(4));
    CHECK(index.find(5, y) == PrefixIndex::kNone);
    CHECK(index.find(2, y) == 4);
  }
  const Ids x = {1, 2}, y = {2, 1};
  CHECK(chained_hash(1, x) != chained_hash(1, y));
  CHECK(chained_hash(1, x) != chained_hash(2, x));
}

// The holders and the contents of every block, kept in the plainest way.
TEST_CASE("block pool: 3,000 random histories lose no block and give nobody a wrong one") {
  int64_t shared = 0, merged = 0;
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto uniform = [&](int64_t least, int64_t most) {
      return least + static_cast<int64_t>(random() % static_cast<uint32_t>(most - least + 1));
    };
    const int64_t size = uniform(1, 4);
    BlockPool pool({uniform(1, 12), size}, seed % 2 == 0 ? chained_hash : no_hash);
    struct Holder {
      Ids tokens, blocks;
    };
    std::vector<Holder> holders;
    std::map<int32_t, Ids> contents;  // of a published block: all tokens up to its end
    for (int step = 0; step < 40; ++step) {
      const int64_t what = holders.empty() ? 2 : uniform(0, 3);
      const auto which =
          static_cast<size_t>(holders.empty() ? 0 : uniform(0, static_cast<int64_t>(holders.size()) - 1));
      if (what == 0) {
        pool.give_back(holders[which].blocks);
        holders.erase(holders.begin() + static_cast<std::ptrdiff_t>(which));
      } else if (what == 1) {
        Holder& holder = holders[which];
        const Ids before = holder.blocks;
        publish(pool, holder.blocks, holder.tokens);
        if (holder.blocks != before) ++merged;
        for (size_t b = 0; (b + 1) * static_cast<size_t>(size) <= holder.tokens.size(); ++b) {
          const Ids now(
              holder.tokens.begin(),
              holder.tokens.begin() + static_cast<std::ptrdiff_t>((b + 1) * static_cast<size_t>(size)));
          if (holder.blocks[b] != before[b]) REQUIRE(contents.at(holder.blocks[b]) == now);
          contents[holder.blocks[b]] = now;
        }
      } else {
        Ids tokens(static_cast<size_t>(uniform(1, 12)));
        for (int32_t& id : tokens) id = static_cast<int32_t>(uniform(0, 1));
        const int64_t available = pool.available();
        const std::optional<BlockPool::Taken> taken = pool.take(tokens);
        if (!taken) {
          REQUIRE(pool.available() == available);
          REQUIRE(pool.needed(static_cast<int64_t>(tokens.size())) > available);
          continue;
        }
        REQUIRE(static_cast<int64_t>(taken->blocks.size()) ==
                pool.needed(static_cast<int64_t>(tokens.size())));
        REQUIRE(taken->cached < static_cast<int64_t>(tokens.size()));
        REQUIRE(taken->cached % size == 0);
        for (size_t b = 0; b < taken->blocks.size(); ++b) {
          const auto end = static_cast<std::ptrdiff_t>((b + 1) * static_cast<size_t>(size));
          if (end <= taken->cached) {
            REQUIRE(contents.at(taken->blocks[b]) == Ids(tokens.begin(), tokens.begin() + end));
            ++shared;
          } else {
            REQUIRE(pool.holders(taken->blocks[b]) == 1);
            contents.erase(taken->blocks[b]);
          }
        }
        holders.push_back({tokens, taken->blocks});
      }
      std::map<int32_t, int64_t> count;
      for (const Holder& holder : holders) {
        for (const int32_t block : holder.blocks) ++count[block];
      }
      for (int32_t block = 0; block < pool.total(); ++block) REQUIRE(pool.holders(block) == count[block]);
      REQUIRE(pool.free() + pool.cached() + pool.used() == pool.total());
      REQUIRE(pool.used() ==
              std::count_if(count.begin(), count.end(), [](const auto& c) { return c.second > 0; }));
    }
  }
  CHECK(shared > 5000);
  CHECK(merged > 500);
}

}  // namespace
}  // namespace rung
