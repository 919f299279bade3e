// Flags of chat templates: --chat-template, --date and --no-thinking.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rung/command_line.h"
#include "tokenizer/chat_template.h"
#include "tokenizer/tokenizer.h"

namespace rung {

struct ChatOption {
  ChatOptions chat;
  bool no_thinking = false;

  void add(CommandLine& line);

  // The token ids of a conversation, up to where the next answer begins. Throws Error as render_chat() does.
  std::vector<int32_t> ids(const Tokenizer& tokenizer, const std::vector<Message>& messages) const;
};

}  // namespace rung
