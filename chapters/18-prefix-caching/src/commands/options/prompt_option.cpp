// Reads the prompt from the command line, a file, or a JSON list of messages.
#include "commands/options/prompt_option.h"

#include <iostream>
#include <utility>

#include <nlohmann/json.hpp>

#include "rung/error.h"
#include "rung/mapped_file.h"

namespace rung {

namespace {

std::string read_text(const std::string& path) {
  const MappedFile file(path);
  const Span<const uint8_t> bytes = file.bytes();
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

std::vector<int32_t> encode(const Tokenizer& tokenizer, const std::string& text) {
  if (const size_t lost = tokenizer.bytes_without_token(text); lost > 0) {
    std::cerr << "rung: warning: this vocabulary has no token for " << lost
              << (lost == 1 ? " byte" : " bytes") << " of the prompt, left out\n";
  }
  return tokenizer.encode(text);
}

}  // namespace

void PromptOption::add(CommandLine& line) {
  line_ = std::make_unique<CommandLine>(line);
  line.option("-p,--prompt", prompt, "Text to go on from; special tokens in it count as such");
  line.option("--prompt-file", prompt_file, "The same from a file, its bytes as they are");
  line.excludes("--prompt");
  line.option("--messages", messages_file,
              "A conversation: JSON file with a list of {\"role\": …, \"content\": …}");
  line.excludes("--prompt");
  line.excludes("--prompt-file");
  chat.add(line);
}

std::vector<int32_t> PromptOption::ids(const Tokenizer& tokenizer) const {
  if (line_->given("--prompt")) return encode(tokenizer, prompt);
  if (line_->given("--prompt-file")) return encode(tokenizer, read_text(prompt_file));
  if (!line_->given("--messages")) fail("there is no prompt: give --prompt, --prompt-file or --messages");
  return chat.ids(tokenizer, parse_messages(read_text(messages_file), messages_file));
}

std::vector<Message> parse_messages(const std::string& json, const std::string& source) {
  // The parser would take a NUL for the end of the text.
  if (json.find('\0') != std::string::npos) fail(source, ": is no valid JSON: holds a NUL byte");
  const nlohmann::json list = nlohmann::json::parse(json, nullptr, false);
  if (list.is_discarded()) fail(source, ": is no valid JSON, expected a list of messages");
  if (!list.is_array() || list.empty()) fail(source, ": expected a list of at least one message");
  std::vector<Message> messages;
  for (size_t i = 0; i < list.size(); ++i) {
    Message message;
    for (const auto& [key, target] :
         {std::pair<const char*, std::string*>{"role", &message.role}, {"content", &message.content}}) {
      const auto value = list[i].is_object() ? list[i].find(key) : list[i].end();
      if (value == list[i].end() || !value->is_string())
        fail(source, ": message ", i, ": expected a text \"", key, "\"");
      *target = value->get<std::string>();
    }
    messages.push_back(std::move(message));
  }
  return messages;
}

}  // namespace rung
