// Where a prompt comes from: -p/--prompt TEXT, --prompt-file FILE, or --messages FILE with a conversation.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "commands/options/chat_option.h"
#include "rung/command_line.h"

namespace rung {

struct PromptOption {
  std::string prompt, prompt_file, messages_file;
  ChatOption chat;

  void add(CommandLine& line);

  // The prompt's token ids; special tokens written out in it count as such. Says on stderr how many bytes of
  // the text the vocabulary has no token for. Throws Error if none of the three was given, or a file cannot
  // be read or is no JSON list of {"role": …, "content": …}.
  std::vector<int32_t> ids(const Tokenizer& tokenizer) const;

 private:
  std::unique_ptr<CommandLine> line_;
};

// Reads a JSON list of messages. `source` names it in errors.
std::vector<Message> parse_messages(const std::string& json, const std::string& source);

}  // namespace rung
