// Text in pieces that end in the middle of characters.
#include "tokenizer/stream_decoder.h"

#include "rung/utf8.h"
#include "testing/catch.h"

namespace rung {

namespace {

constexpr const char* kBad = "\xef\xbf\xbd";

std::string whole(std::string_view bytes) {
  StreamDecoder decoder;
  std::string text = decoder.push(bytes);
  return text + decoder.finish();
}

std::string byte_by_byte(std::string_view bytes) {
  StreamDecoder decoder;
  std::string text;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const std::string piece = decoder.push(bytes.substr(i, 1));
    CHECK(utf8_valid_prefix(piece) == piece.size());
    text += piece;
  }
  return text + decoder.finish();
}

}  // namespace

TEST_CASE("a character comes out with its last byte", "[stream_decoder]") {
  StreamDecoder decoder;
  CHECK(decoder.push("a\xf0\x9f") == "a");
  CHECK(decoder.push("\x9a") == "");
  CHECK(decoder.push("\x80z") == "\xf0\x9f\x9a\x80z");
  CHECK(decoder.push("") == "");
  CHECK(decoder.finish() == "");
}

TEST_CASE("bytes that can become no character come out at once", "[stream_decoder]") {
  StreamDecoder decoder;
  CHECK(decoder.push("\xff") == kBad);
  CHECK(decoder.push("\x80") == kBad);
  CHECK(decoder.push("\xc0") == kBad);  // would be an overlong form
  CHECK(decoder.push("\xe2") == "");
  CHECK(decoder.push("x") == std::string(kBad) + "x");
  CHECK(decoder.push("\xed\xa0") == std::string(kBad) + kBad);  // a surrogate
  CHECK(decoder.push("\xf4\x90") == std::string(kBad) + kBad);  // above U+10FFFF
  CHECK(decoder.push("\xe0") == "");
  CHECK(decoder.push("\x9f") == std::string(kBad) + kBad);  // overlong
  CHECK(decoder.finish() == "");
}

TEST_CASE("an incomplete tail ends as one replacement character", "[stream_decoder]") {
  for (const char* tail : {"\xc3", "\xe2\x82", "\xf0\x9f\x9a", "\xf0\x9f", "\xf0"}) {
    StreamDecoder decoder;
    CHECK(decoder.push(std::string("ok") + tail) == "ok");
    CHECK(decoder.finish() == kBad);
    CHECK(decoder.finish() == "");
    CHECK(decoder.push("next") == "next");
  }
}

TEST_CASE("the text does not depend on where the pieces end", "[stream_decoder]") {
  // Expected: Python's bytes.decode("utf-8", "replace").
  const std::pair<std::string, std::string> cases[] = {
      {"Gr\xc3\xbc\xc3\x9f", "Gr\u00fc\u00df"},
      {"\xe6\x97\xa5\xe6\x9c\xac\xf0\x9f\x9a\x80", "\u65e5\u672c\U0001f680"},
      {"a\xf0\x9f\x9a"
       "b",
       "a\ufffdb"},
      {"\xf0\x9f\xf0\x9f\x9a\x80", "\ufffd\U0001f680"},
      {"\xe2\x82\xe2\x82\xac", "\ufffd\u20ac"},
      {"\xc0\x80\xed\xa0\x80", "\ufffd\ufffd\ufffd\ufffd\ufffd"},
      {"\xf8\x88\x80\x80\x80", "\ufffd\ufffd\ufffd\ufffd\ufffd"},
      {"\xe1\x80"
       "A\xc2",
       "\ufffdA\ufffd"},
      {"\xf4\x8f\xbf\xbf\xf4\x90\x80\x80", "\U0010ffff\ufffd\ufffd\ufffd\ufffd"},
  };
  for (const auto& [bytes, text] : cases) {
    CHECK(whole(bytes) == text);
    CHECK(byte_by_byte(bytes) == text);
  }
}

TEST_CASE("every character passes whole, cut at every byte", "[stream_decoder]") {
  for (const char* character :
       {"\x7f", "\u0080", "\u07ff", "\u0800", "\ud7ff", "\ue000", "\uffff", "\U00010000", "\U0010ffff"}) {
    CHECK(byte_by_byte(character) == character);
  }
}

}  // namespace rung
