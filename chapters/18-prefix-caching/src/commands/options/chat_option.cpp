// The flags of chat templates, and a conversation as token ids.
#include "commands/options/chat_option.h"

namespace rung {

void ChatOption::add(CommandLine& line) {
  line.option("--chat-template", chat.family,
              "Chat template family where the model's own is not known, or none");
  line.option("--date", chat.date,
              "Date for templates that print it, such as \"26 Jul 2024\" (default: today)");
  line.flag("--no-thinking", no_thinking, "qwen3: answer without a thought first");
}

std::vector<int32_t> ChatOption::ids(const Tokenizer& tokenizer, const std::vector<Message>& messages) const {
  ChatOptions options = chat;
  options.thinking = !no_thinking;
  return tokenizer.encode(render_chat(messages, tokenizer.chat_template(), options));
}

}  // namespace rung
