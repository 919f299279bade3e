// Joins lines to questions and tells commands from them.
#include "commands/chat_input.h"

#include <algorithm>

namespace rung {

namespace {

constexpr const char* kBlock = "\"\"\"";

bool is_command(const std::string& line) {
  return line.size() > 1 && line[0] == '/' &&
         std::all_of(line.begin() + 1, line.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

}  // namespace

bool is_blank(const std::string& text) {
  return text.find_first_not_of(" \t\n") == std::string::npos;
}

ChatInput read_chat_input(const std::function<LineReader::Result(std::string&)>& read_line,
                          const std::function<void(bool goes_on)>& prompt) {
  std::string text, line;
  bool in_block = false, goes_on = false;
  for (;;) {
    prompt(in_block || goes_on);
    switch (read_line(line)) {
      case LineReader::Result::interrupted:
        return {ChatInput::Kind::interrupted, ""};
      case LineReader::Result::end:
        if (is_blank(text)) return {ChatInput::Kind::end, ""};
        return {ChatInput::Kind::question, text};
      case LineReader::Result::line:
        break;
    }
    if (line == kBlock && !goes_on) {
      in_block = !in_block;
      if (in_block) continue;
      if (!text.empty()) text.pop_back();  // the line break before the closing """
    } else if (in_block) {
      text += line + "\n";
      continue;
    } else if (!line.empty() && line.back() == '\\') {
      text += line.substr(0, line.size() - 1) + "\n";
      goes_on = true;
      continue;
    } else if (!goes_on && is_command(line)) {
      return {ChatInput::Kind::command, line};
    } else {
      text += line;
    }
    if (!is_blank(text)) return {ChatInput::Kind::question, text};
    text.clear();
    goes_on = false;
  }
}

}  // namespace rung
