// What is typed into `chat`, made into questions and commands.
#include "commands/chat_input.h"

#include <vector>

#include "testing/catch.h"

namespace rung {
namespace {

using Kind = ChatInput::Kind;

// Everything read from these lines until they end; '^' stands for an interrupt. prompts: '>' for a fresh
// line, '.' for one that goes on.
struct Read {
  std::vector<ChatInput> inputs;
  std::string prompts;
};

Read read_all(std::vector<std::string> lines) {
  Read result;
  size_t next = 0;
  do {
    result.inputs.push_back(read_chat_input(
        [&](std::string& line) {
          if (next == lines.size()) return LineReader::Result::end;
          line = lines[next++];
          return line == "^" ? LineReader::Result::interrupted : LineReader::Result::line;
        },
        [&](bool goes_on) { result.prompts += goes_on ? '.' : '>'; }));
  } while (result.inputs.back().kind != Kind::end);
  result.inputs.pop_back();
  return result;
}

void check(const std::vector<std::string>& lines, const std::vector<std::pair<Kind, std::string>>& expected,
           const std::string& prompts) {
  const Read read = read_all(lines);
  CAPTURE(lines);
  REQUIRE(read.inputs.size() == expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    CHECK(read.inputs[i].kind == expected[i].first);
    CHECK(read.inputs[i].text == expected[i].second);
  }
  CHECK(read.prompts == prompts);
}

TEST_CASE("chat input: lines are questions, empty ones are passed over") {
  check({"one", "", "  \t", "two \"\"\" three"},
        {{Kind::question, "one"}, {Kind::question, "two \"\"\" three"}}, ">>>>>");
}

TEST_CASE("chat input: a backslash at the end goes on in the next line") {
  check({"one\\", "two\\", "three", "four"}, {{Kind::question, "one\ntwo\nthree"}, {Kind::question, "four"}},
        ">..>>");
  check({"a\\", "/exit"}, {{Kind::question, "a\n/exit"}}, ">.>");
  check({"a\\", "\"\"\""}, {{Kind::question, "a\n\"\"\""}}, ">.>");
  check({"a\\"}, {{Kind::question, "a\n"}}, ">.>");  // the input ends before the line does
  check({"\\", "b"}, {{Kind::question, "\nb"}}, ">.>");
}

TEST_CASE("chat input: a block keeps its lines as they are") {
  check({"\"\"\"", "int main() {", "", "  /exit \\", "\"\"\"", "next"},
        {{Kind::question, "int main() {\n\n  /exit \\"}, {Kind::question, "next"}}, ">....>>");
  check({"\"\"\"", "\"\"\"", "x"}, {{Kind::question, "x"}}, ">.>>");
  check({"\"\"\"", "no end"}, {{Kind::question, "no end\n"}}, ">..>");
}

TEST_CASE("chat input: commands are a slash and letters") {
  check({"/help", "/clear", "/what"},
        {{Kind::command, "/help"}, {Kind::command, "/clear"}, {Kind::command, "/what"}}, ">>>>");
  check({"/usr/bin holds what?", "/", "/Exit", "/exit now"},
        {{Kind::question, "/usr/bin holds what?"},
         {Kind::question, "/"},
         {Kind::question, "/Exit"},
         {Kind::question, "/exit now"}},
        ">>>>>");
}

TEST_CASE("chat input: an interrupt throws away what had been typed") {
  check({"^", "one\\", "^", "two", "\"\"\"", "three", "^", "four"},
        {{Kind::interrupted, ""},
         {Kind::interrupted, ""},
         {Kind::question, "two"},
         {Kind::interrupted, ""},
         {Kind::question, "four"}},
        ">>.>>..>>");
}

}  // namespace
}  // namespace rung
