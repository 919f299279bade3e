// Added tokens found in a text, normalization, and the spelling of bytes.
#include "tokenizer/added_tokens.h"

#include "testing/catch.h"
#include "testing/fixture.h"
#include "tests/token_references.h"
#include "tokenizer/byte_level.h"
#include "tokenizer/normalize.h"
#include "tokenizer/vocabulary.h"

namespace rung {

namespace {

AddedToken token(const char* text, int32_t id) {
  AddedToken result;
  result.text = text;
  result.id = id;
  return result;
}

// "plain", then ids in brackets.
std::string shown(const AddedTokenMatcher& matcher, std::string_view text) {
  std::string result;
  matcher.split(
      text, [&](std::string_view plain) { result += "(" + std::string(plain) + ")"; },
      [&](const AddedToken& found) { result += "[" + std::to_string(found.id) + "]"; });
  return result;
}

}  // namespace

TEST_CASE("of added tokens at one place the longest is taken", "[added_tokens]") {
  const AddedTokenMatcher matcher({token("<tool", 1), token("<tool_call>", 2), token("<tool_call><x", 3)});
  CHECK(shown(matcher, "<tool") == "[1]");
  CHECK(shown(matcher, "<tool_call>") == "[2]");
  CHECK(shown(matcher, "a<tool_call><y") == "(a)[2](<y)");
  CHECK(shown(matcher, "<tool_cal") == "[1](_cal)");
  CHECK(shown(matcher, "<too<tool_call><x") == "(<too)[3]");
  CHECK(shown(matcher, "") == "");
  CHECK(shown(matcher, "<<<") == "(<<<)");
}

TEST_CASE("an added token that starts earlier wins over a longer one", "[added_tokens]") {
  const AddedTokenMatcher matcher({token("abc", 1), token("bcdefg", 2)});
  CHECK(shown(matcher, "abcdefg") == "[1](defg)");
  CHECK(shown(matcher, "xbcdefg") == "(x)[2]");
}

TEST_CASE("longest_at looks only at the start", "[added_tokens]") {
  const AddedTokenMatcher matcher({token("ab", 1), token("abcd", 2)});
  REQUIRE(matcher.longest_at("abc") != nullptr);
  CHECK(matcher.longest_at("abc")->id == 1);
  CHECK(matcher.longest_at("abcd")->id == 2);
  CHECK(matcher.longest_at("xab") == nullptr);
  CHECK(matcher.longest_at("a") == nullptr);
  CHECK(matcher.longest_at("") == nullptr);
}

TEST_CASE("the flags of added tokens do what Hugging Face tokenizers does", "[added_tokens]") {
  const testing::TemporaryFolder folder;
  folder.write("tokenizer.json", testing::flagged_tokenizer_json());
  const Tokenizer tokenizer = load_json_tokenizer(folder.path());
  const std::vector<testing::TokenCase> cases = testing::flagged_token_cases();
  REQUIRE(cases.size() > 25);
  for (const testing::TokenCase& expected : cases) {
    INFO(expected.text);
    CHECK(tokenizer.encode(expected.text) == expected.ids);
  }
}

TEST_CASE("normal form C is Python's", "[normalize]") {
  const auto cases = testing::normalization_cases();
  REQUIRE(cases.size() > 400);
  for (const auto& [text, expected] : cases) {
    INFO(text);
    CHECK(normalized(text) == expected);
    CHECK(normalized(expected) == expected);
    if (text != expected) CHECK(may_need_normalizing(text));
  }
}

TEST_CASE("text that is plainly normal is not normalized", "[normalize]") {
  CHECK_FALSE(may_need_normalizing(
      "plain ASCII, Gr\u00fc\u00dfe, \u65e5\u672c\u8a9e, \ud55c\uad6d\uc5b4 \U0001f680"));
  CHECK(may_need_normalizing("e\u0301"));
  CHECK(may_need_normalizing("\u212b"));
}

TEST_CASE("normalization leaves bytes alone that are no UTF-8", "[normalize]") {
  CHECK(normalized("e\u0301\xff"
                   "e\u0301\xc3") == "\u00e9\xff\u00e9\xc3");
  CHECK(normalized("e\xff\u0301") == "e\xff\u0301");
  CHECK(normalized("") == "");
}

TEST_CASE("every byte has a letter of its own and comes back", "[byte_level]") {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  const std::string letters = bytes_to_letters(all);
  std::string back = "x";
  CHECK(letters_to_bytes(letters, back));
  CHECK(back == "x" + all);
  CHECK(bytes_to_letters("a b\n") == "a\u0120b\u010a");
  CHECK(bytes_to_letters("\xc3\xa9\xad\x7f\x80") == "\u00c3\u00a9\u0143\u0121\u0122");
  for (const char* wrong : {" ", "a b", "\u0144", "\u4e2d", "\xff", "\u00ad", "\U0001f680"}) {
    CHECK_FALSE(letters_to_bytes(wrong, back));
    CHECK(back == "x" + all);
  }
}

}  // namespace rung
