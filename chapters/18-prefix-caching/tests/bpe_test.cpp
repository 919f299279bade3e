// Byte pair encoding of single words.
#include "tokenizer/bpe.h"

#include "rung/error.h"
#include "testing/catch.h"
#include "tests/error_text.h"

namespace rung {

namespace {

// Tokens 0 to 255 are the bytes; merge k makes token 256 + k.
std::array<int32_t, 256> all_bytes() {
  std::array<int32_t, 256> tokens;
  for (int byte = 0; byte < 256; ++byte) tokens[byte] = byte;
  return tokens;
}

std::vector<int32_t> encode(const Bpe& bpe, std::string_view word) {
  std::vector<int32_t> ids;
  bpe.encode(word, ids);
  return ids;
}

// "abab" made of: ab = 256, abab = 257, ba = 258.
Bpe small() {
  return Bpe(all_bytes(), {{'a', 'b', 256}, {256, 256, 257}, {'b', 'a', 258}}, "test");
}

}  // namespace

TEST_CASE("bpe merges the pair of lowest rank first", "[bpe]") {
  // By pencil: b a n a n a with an < na < ban: "an" twice from the left, then ban.
  const Bpe bpe(all_bytes(), {{'a', 'n', 256}, {'n', 'a', 257}, {'b', 256, 258}}, "test");
  CHECK(encode(bpe, "banana") == std::vector<int32_t>{258, 256, 'a'});
  const Bpe other(all_bytes(), {{'n', 'a', 256}, {'a', 'n', 257}, {256, 256, 258}}, "test");
  CHECK(encode(other, "banana") == std::vector<int32_t>{'b', 'a', 258});
}

TEST_CASE("bpe of equal pairs joins the left one first", "[bpe]") {
  const Bpe bpe(all_bytes(), {{'a', 'a', 256}}, "test");
  CHECK(encode(bpe, "aaa") == std::vector<int32_t>{256, 'a'});
  CHECK(encode(bpe, "aaaaa") == std::vector<int32_t>{256, 256, 'a'});
}

TEST_CASE("bpe takes a merge that only becomes possible by another", "[bpe]") {
  CHECK(encode(small(), "abab") == std::vector<int32_t>{257});
  CHECK(encode(small(), "ababab") == std::vector<int32_t>{257, 256});
  CHECK(encode(small(), "bab") == std::vector<int32_t>{'b', 256});
  CHECK(encode(small(), "bba") == std::vector<int32_t>{'b', 258});
}

TEST_CASE("bpe of one byte and of none", "[bpe]") {
  CHECK(encode(small(), "a") == std::vector<int32_t>{'a'});
  CHECK(encode(small(), "").empty());
  CHECK(encode(small(), std::string_view("\0\xff", 2)) == std::vector<int32_t>{0, 255});
}

TEST_CASE("bpe leaves bytes without a token out and joins what is left", "[bpe]") {
  std::array<int32_t, 256> tokens = all_bytes();
  tokens['x'] = -1;
  const Bpe bpe(tokens, {{'a', 'b', 256}}, "test");
  CHECK(encode(bpe, "axb") == std::vector<int32_t>{256});
  CHECK(encode(bpe, "xx").empty());
  CHECK(encode(bpe, "xay") == std::vector<int32_t>{'a', 'y'});
}

TEST_CASE("bpe appends to the ids that are there", "[bpe]") {
  std::vector<int32_t> ids = {7};
  small().encode("ab", ids);
  CHECK(ids == std::vector<int32_t>{7, 256});
}

TEST_CASE("bpe looks at fewer than three pairs a byte, however long the word", "[bpe]") {
  // a, aa, aaaa, …, 2^16 letters: every merge of the chain is used again and again.
  std::vector<Merge> merges = {{'a', 'a', 256}};
  for (int32_t i = 1; i < 16; ++i) merges.push_back({255 + i, 255 + i, 256 + i});
  const Bpe bpe(all_bytes(), merges, "test");
  for (const size_t letters : {size_t{1000}, size_t{1000000}}) {
    std::vector<int32_t> ids;
    const size_t steps = bpe.encode(std::string(letters, 'a'), ids);
    CHECK(steps < 3 * letters);
    CHECK(steps >= letters / 2);
    size_t total = 0;
    for (const int32_t id : ids) total += id < 256 ? 1 : size_t{2} << (id - 256);
    CHECK(total == letters);
    CHECK(ids.front() == (letters == 1000 ? 256 + 8 : 256 + 15));
  }
}

TEST_CASE("bpe refuses a pair that is merged twice", "[bpe]") {
  const std::string error = testing::error_of([] {
    Bpe(all_bytes(), {{'a', 'b', 256}, {'b', 'c', 257}, {'a', 'b', 258}}, "file: merges");
  });
  CHECK(testing::complaint(error, {"file: merges", "elements 0 and 2"}) == "");
}

}  // namespace rung
