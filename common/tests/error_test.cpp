// Errors: their text, and how foreign text is made fit to stand in it.
#include "rung/error.h"

#include "testing/catch.h"

using namespace std::string_literals;

TEST_CASE("fail joins its parts into one message") {
  CHECK_THROWS_MATCHES(rung::fail("a.gguf", ": offset ", 24, ": expected ", 1.5), rung::Error,
                       Catch::Matchers::Message("a.gguf: offset 24: expected 1.5"));
}

TEST_CASE("not_done names the exercise and is an Error of its own kind") {
  CHECK_THROWS_MATCHES(rung::not_done("06.2"), rung::NotDone,
                       Catch::Matchers::Message("exercise 06.2 is not done yet"));
  CHECK_THROWS_AS(rung::not_done("06.2"), rung::Error);
}

TEST_CASE("escaped leaves valid UTF-8 alone and shows everything else as hexadecimal") {
  CHECK(rung::escaped("") == "");
  CHECK(rung::escaped("plain, ä, 漢, 😀") == "plain, ä, 漢, 😀");
  CHECK(rung::escaped("a\nb\rc\td") == "a\\nb\\rc\\td");
  CHECK(rung::escaped("\0\x01\x1b[31m\x1f\x7f"s) == "\\x00\\x01\\x1b[31m\\x1f\\x7f");
  CHECK(rung::escaped(" ~") == " ~");
  CHECK(rung::escaped("\xff\xfe") == "\\xff\\xfe");
  CHECK(rung::escaped("a\xc3") == "a\\xc3");                           // cut off
  CHECK(rung::escaped("\xc3(") == "\\xc3(");                           // no continuation
  CHECK(rung::escaped("\xed\xa0\x80") == "\\xed\\xa0\\x80");           // a surrogate
  CHECK(rung::escaped("\xc2\x80\xc2\x9f") == "\\xc2\\x80\\xc2\\x9f");  // C1 controls
  CHECK(rung::escaped("\xc2\xa0") == "\xc2\xa0");                      // the first character after them
}

TEST_CASE("quoted puts quotes around and cuts long text between characters") {
  CHECK(rung::quoted("") == "\"\"");
  CHECK(rung::quoted("abc\n") == "\"abc\\n\"");
  CHECK(rung::quoted("abcd", 4) == "\"abcd\"");
  CHECK(rung::quoted("abcde", 4) == "\"abcd…\"");
  CHECK(rung::quoted("abcä", 4) == "\"abc…\"");  // ä would begin inside the limit and end outside
  CHECK(rung::quoted("abä!", 4) == "\"abä…\"");
  CHECK(rung::quoted("a😀b", 4) == "\"a…\"");
  CHECK(rung::quoted(std::string(1000, 'x')).size() == 80 + 2 + 3);  // the ellipsis has three bytes
}

TEST_CASE("text that is no UTF-8 is cut at the limit") {
  CHECK(rung::quoted(std::string(100, '\x80'), 2) == "\"\\x80\\x80…\"");
  CHECK(rung::quoted(std::string(100, '\x80'), 5) == "\"\\x80\\x80\\x80\\x80\\x80…\"");
}
