// What a user types into `chat`, made into questions: lines that go on, blocks of lines, commands.
#pragma once

#include <functional>
#include <string>

#include "commands/line_reader.h"

namespace rung {

struct ChatInput {
  enum class Kind { question, command, end, interrupted };
  Kind kind;
  std::string text;  // the question, or the command with its slash
};

// Nothing but spaces and line breaks.
bool is_blank(const std::string& text);

// Reads until a question is complete. A line that ends in a backslash goes on in the next one; a block of
// lines stands between two lines of """. A line of a slash and letters is a command. read_line gives the
// lines; before each, prompt(goes_on) is called.
ChatInput read_chat_input(const std::function<LineReader::Result(std::string&)>& read_line,
                          const std::function<void(bool goes_on)>& prompt);

}  // namespace rung
