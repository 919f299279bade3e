// UTF-8 as RFC 3629 defines it: every boundary of its table, and everything that it forbids.
#include "rung/utf8.h"

#include <string>

#include "testing/catch.h"

using rung::utf8_sequence_length;
using rung::utf8_valid_prefix;
using namespace std::string_literals;

namespace {

// The encoding written from RFC 3629, section 3, for any number up to 2^21: also for those that it then
// forbids.
std::string encode(uint32_t code_point, int length) {
  std::string bytes;
  if (length == 1) return std::string(1, static_cast<char>(code_point));
  const uint32_t marks[] = {0, 0, 0xc0, 0xe0, 0xf0};
  bytes += static_cast<char>(marks[length] | (code_point >> (6 * (length - 1))));
  for (int i = length - 2; i >= 0; --i) bytes += static_cast<char>(0x80 | ((code_point >> (6 * i)) & 0x3f));
  return bytes;
}

}  // namespace

TEST_CASE("every code point has exactly one valid encoding, and surrogates have none") {
  const uint32_t first_of_length[] = {0, 0, 0x80, 0x800, 0x10000, 0x200000};
  for (int length = 1; length <= 4; ++length) {
    const uint32_t room = length == 1 ? 0x80 : length == 2 ? 0x800 : length == 3 ? 0x10000 : 0x200000;
    int wrong = 0;
    for (uint32_t code_point = 0; code_point < room; ++code_point) {
      const bool shortest = code_point >= first_of_length[length];
      const bool surrogate = code_point >= 0xd800 && code_point <= 0xdfff;
      const bool valid = shortest && !surrogate && code_point <= 0x10ffff;
      const std::string bytes = encode(code_point, length);
      wrong += utf8_sequence_length(bytes) != (valid ? length : 0);
      wrong += utf8_sequence_length(bytes + "x") != (valid ? length : 0);
      for (int cut = 1; cut < length; ++cut) wrong += utf8_sequence_length(bytes.substr(0, cut)) != 0;
    }
    CAPTURE(length);
    CHECK(wrong == 0);
  }
}

TEST_CASE("bytes that never begin a sequence") {
  CHECK(utf8_sequence_length("") == 0);
  CHECK(utf8_sequence_length("\0"s) == 1);
  for (int byte = 0x80; byte < 0x100; ++byte) {
    if (byte >= 0xc2 && byte <= 0xf4) continue;
    CAPTURE(byte);
    CHECK(utf8_sequence_length(std::string(1, static_cast<char>(byte)) + "\x80\x80\x80\x80\x80") == 0);
  }
}

TEST_CASE("each continuation byte must be one") {
  const std::string good = "\xf1\x80\x80\x80";
  REQUIRE(utf8_sequence_length(good) == 4);
  for (int place = 1; place < 4; ++place) {
    for (int byte : {0x00, 0x41, 0x7f, 0xc0, 0xff}) {
      std::string bad = good;
      bad[place] = static_cast<char>(byte);
      CAPTURE(place, byte);
      CHECK(utf8_sequence_length(bad) == 0);
    }
  }
}

TEST_CASE("the valid prefix ends at the first wrong byte") {
  CHECK(utf8_valid_prefix("") == 0);
  CHECK(utf8_valid_prefix("a\0b"s) == 3);
  CHECK(utf8_valid_prefix("aä漢😀") == 1 + 2 + 3 + 4);
  CHECK(utf8_valid_prefix("aä\xff tail") == 3);
  CHECK(utf8_valid_prefix("漢\xe6\xbc") == 3);
  CHECK(utf8_valid_prefix("\x80") == 0);
}
