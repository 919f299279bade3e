// JSON as events: what comes through, and what is refused.
#include "model_file/json_events.h"

#include "testing/catch.h"
#include "tests/error_text.h"
#include "tests/peak_memory.h"

namespace rung {

using testing::complaint;
using testing::error_of;

namespace {

// Writes the events down.
class Log : public JsonEvents {
 public:
  void begin(bool object) override { text += object ? "{" : "["; }
  void end(bool object) override { text += object ? "}" : "]"; }
  void key(std::string&& name) override { text += name + ":"; }
  void scalar(JsonScalar&& value) override { text += describe(value) + ","; }
  std::string text;
};

class Ignore : public JsonEvents {
 public:
  void begin(bool) override {}
  void end(bool) override {}
  void key(std::string&&) override {}
  void scalar(JsonScalar&&) override {}
};

std::string events(std::string_view text, int max_depth = 8) {
  Log log;
  read_json(text, "x.json", max_depth, log);
  return log.text;
}

std::string error_in(std::string_view text, int max_depth = 8) {
  return error_of([&] { events(text, max_depth); });
}

}  // namespace

TEST_CASE("JSON comes as events in the order of the text") {
  CHECK(events(R"( {"a": [1, -2, 2.5, true, null, "x\u0041\n"], "b": {}} )") ==
        R"({a:[1,-2,2.5,true,null,the string "xA\n",]b:{}})");
  CHECK(events("7") == "7,");
}

TEST_CASE("JSON integers are exact up to 64 bits and real numbers beyond") {
  class Numbers : public Ignore {
   public:
    void scalar(JsonScalar&& value) override { values.push_back(std::move(value)); }
    std::vector<JsonScalar> values;
  } numbers;
  read_json("[18446744073709551615, -9223372036854775808, 18446744073709551616, 0, 1e2]", "x", 1, numbers);
  CHECK(numbers.values[0].magnitude == UINT64_MAX);
  CHECK(numbers.values[1].magnitude == uint64_t{1} << 63);
  CHECK(numbers.values[1].negative);
  CHECK(numbers.values[1].real == -9223372036854775808.0);
  CHECK(numbers.values[2].kind == JsonScalar::Kind::real);
  CHECK(numbers.values[2].text == "18446744073709551616");
  CHECK(numbers.values[3].kind == JsonScalar::Kind::integer);
  CHECK(numbers.values[4].kind == JsonScalar::Kind::real);
  CHECK(numbers.values[4].real == 100);
}

TEST_CASE("broken JSON is one error that names the byte") {
  for (const char* text :
       {"",         " ",       "{",           "[1",    "{\"a\"", "{\"a\":", "{\"a\":1,", "{\"a\":1,}",
        "[1,]",     "{a:1}",   "nul",         "01",    "+1",     "1.",      ".5",        "'x'",
        "\"x",      "\"\\q\"", "\"\\ud800\"", "[1] 2", "{} {}",  "1e999",   "\"\xff\"",  "\"\xc0\x80\"",
        "\"\x01\"", "// c\n1", "NaN"}) {
    INFO(text);
    CHECK(complaint(error_in(text), {"x.json", "not valid JSON", "byte "}) == "");
  }
  CHECK(complaint(error_in(std::string_view("{}\0x", 4)), {"x.json", "byte 2 is NUL"}) == "");
  CHECK(complaint(error_in("\xef\xbb\xbf{}"), {"x.json", "byte order mark"}) == "");
}

TEST_CASE("JSON nested a hundred thousand deep is refused without using memory") {
  const std::string arrays(100000, '['), whole = arrays + std::string(100000, ']');
  std::string objects;
  for (int i = 0; i < 100000; ++i) objects += "{\"a\":";
  for (const std::string& text : {arrays, whole, objects}) {
    const testing::PeakMemory memory;
    CHECK(complaint(error_in(text), {"x.json", "deeper than 8"}) == "");
    CHECK(memory.bytes() < 100000);
  }
  CHECK(events("[[1]]", 2) == "[[1,]]");
  CHECK(complaint(error_in("[[1]]", 1), {"deeper than 1"}) == "");
}

TEST_CASE("an error about a long piece of JSON stays short, and memory within eight times the text") {
  for (const size_t size : {(size_t{1} << 17) + 1, (size_t{1} << 18) - 2, (size_t{1} << 21) + 1}) {
    INFO(size);
    const std::string a(size, 'a');
    const std::string texts[] = {"\"" + a, "[\"" + a + "\x01\"]", "{\"" + a + "\":x",
                                 std::string(size, '1') + "x", "[" + std::string(size, ' ') + "x"};
    for (const std::string& text : texts) {
      const testing::PeakMemory memory;
      CHECK(complaint(error_in(text), {"x.json", "byte "}) == "");
      CHECK(memory.bytes() < 8 * text.size() + (1 << 20));
    }
  }
}

TEST_CASE("JSON strings and numbers may have 262144 bytes and no more") {
  const size_t most = size_t{1} << 18;
  CHECK(error_in("\"" + std::string(most - 2, 'a') + "\"") == "(no error)");
  CHECK(complaint(error_in("[1,\"" + std::string(most, 'a') + "\"]"),
                  {"x.json", "byte 3", "string", "262144"}) == "");
  CHECK(error_in("0." + std::string(most - 2, '1')) == "(no error)");
  CHECK(complaint(error_in(std::string(most + 1, '1')), {"x.json", "byte 0", "number", "262144"}) == "");
  // Quotes behind backslashes do not end a string, and long texts of short tokens are fine.
  CHECK(complaint(error_in("\"\\\"" + std::string(most, 'a') + "\""), {"byte 0", "string"}) == "");
  std::string many = "[\"\\\\\"";
  for (int i = 0; i < 100000; ++i) many += ",\"a\",1";
  CHECK(error_in(many + "]") == "(no error)");
}

}  // namespace rung
