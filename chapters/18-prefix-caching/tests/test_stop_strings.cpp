// Stop strings: every text over a small alphabet, cut into pieces in every way.
#include "engine/stop_strings.h"

#include <functional>

#include "rung/error.h"
#include "testing/catch.h"

namespace rung {
namespace {

struct Ended {
  std::string text;
  bool matched;
};

bool operator==(const Ended& a, const Ended& b) {
  return a.text == b.text && a.matched == b.matched;
}

// The definition, read from the text byte by byte: it ends where a stop string is complete for the first
// time.
Ended expected(const std::string& text, const std::vector<std::string>& stops) {
  for (size_t end = 1; end <= text.size(); ++end) {
    size_t longest = 0;
    for (const std::string& stop : stops) {
      if (stop.size() <= end && text.substr(end - stop.size(), stop.size()) == stop)
        longest = std::max(longest, stop.size());
    }
    if (longest > 0) return {text.substr(0, end - longest), true};
  }
  return {text, false};
}

// The pieces that bit i of cuts separates behind byte i. Fails if what came out is ever more than may come
// out.
Ended in_pieces(const std::string& text, unsigned cuts, const std::vector<std::string>& stops,
                const std::string& certain) {
  StopStrings stop(stops);
  std::string out, piece;
  for (size_t i = 0; i < text.size(); ++i) {
    piece += text[i];
    if (i + 1 < text.size() && (cuts >> i & 1) == 0) continue;
    out += stop.push(piece);
    if (certain.compare(0, out.size(), out) != 0) return {"leaked: " + out, stop.matched()};
    piece.clear();
  }
  out += stop.finish();
  return {out, stop.matched()};
}

TEST_CASE("stop strings: every text of up to 6 letters in every division into pieces") {
  const std::vector<std::vector<std::string>> sets = {
      {"a"},          {"ab"},         {"aab"},         {"aba"},         {"abab"},
      {"aa"},         {"aaa"},        {"ab", "ba"},    {"abb", "bb"},   {"aab", "ab", "b"},
      {"abba", "bb"}, {"baab", "aa"}, {"abc", "b"},    {"cab", "abc"},  {"abcabd", "bca"},
      {"a", "b"},     {"bbbbbbbbbb"}, {"aba", "abac"}, {"abac", "aba"}, {},
  };
  size_t checked = 0;
  std::string text;
  const std::function<bool(size_t)> try_all = [&](size_t letters) {
    for (const auto& stops : sets) {
      const Ended want = expected(text, stops);
      for (unsigned cuts = 0; cuts < 1u << (text.empty() ? 0 : text.size() - 1); ++cuts) {
        ++checked;
        const Ended got = in_pieces(text, cuts, stops, want.text);
        if (!(got == want)) {
          FAIL_CHECK("text " << text << ", cuts " << cuts << ", first stop " << stops[0] << ": got \""
                             << got.text << "\" matched " << got.matched << ", expected \"" << want.text
                             << "\" matched " << want.matched);
          return false;
        }
      }
    }
    if (letters == 0) return true;
    for (const char letter : {'a', 'b', 'c'}) {
      text.push_back(letter);
      const bool good = try_all(letters - 1);
      text.pop_back();
      if (!good) return false;
    }
    return true;
  };
  try_all(6);
  CHECK(checked > 500'000);
}

TEST_CASE("stop strings: what can no longer become one comes out at once") {
  StopStrings stop({"<end>"});
  CHECK(stop.push("one <") == "one ");
  CHECK(stop.push("e") == "");
  CHECK(stop.push("x <en") == "<ex ");
  CHECK(stop.push("d") == "");
  CHECK(!stop.matched());
  CHECK(stop.push("> two") == "");
  CHECK(stop.matched());
  CHECK(stop.push("three") == "");
  CHECK(stop.finish() == "");
}

TEST_CASE("stop strings: an end for another reason gives out the tail") {
  StopStrings stop({"\n\nQ:"});
  CHECK(stop.push("answer\n\nQ") == "answer");
  CHECK(stop.finish() == "\n\nQ");
  CHECK(stop.finish() == "");
  CHECK(!stop.matched());
}

TEST_CASE("stop strings: at the very first byte, and characters of several bytes") {
  StopStrings first({"No"});
  CHECK(first.push("No, thanks") == "");
  CHECK(first.matched());
  StopStrings accents({"é€"});
  CHECK(accents.push("caf\u00e9") == "caf");
  CHECK(accents.push("\u00e9") == "\u00e9");
  CHECK(accents.push("\u20ac!") == "");
  CHECK(accents.matched());
}

TEST_CASE("stop strings: an empty one is refused") {
  CHECK_THROWS_AS(StopStrings({"a", ""}), Error);
}

}  // namespace
}  // namespace rung
