// A JSON list of messages, rendered by every chat template family.
#include "commands/options/prompt_option.h"
#include "fuzz.h"
#include "tokenizer/chat_template.h"

using namespace rung;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<Message> messages;
  if (!fuzz::accepted([&] { messages = parse_messages(std::string(fuzz::text(data, size)), "input.json"); }))
    return 0;
  fuzz::require(!messages.empty(), "there is a message");
  for (const char* family : {"smollm2", "qwen2.5", "qwen3", "llama-3", "llama-3.1", "llama-3.2", "none"}) {
    ChatOptions options;
    options.family = family;
    options.date = "26 Jul 2024";
    std::string with_prompt, without;
    if (!fuzz::accepted([&] { with_prompt = render_chat(messages, "", options); })) continue;
    options.add_generation_prompt = false;
    without = render_chat(messages, "", options);
    fuzz::require(with_prompt.compare(0, without.size(), without) == 0,
                  "the prompt of the answer stands behind the messages");
    options.thinking = false;
    render_chat(messages, "", options);
    if (options.family != "smollm2" && options.family != "qwen2.5") continue;  // the others trim contents
    for (const Message& message : messages) {
      fuzz::require(with_prompt.find(message.content) != std::string::npos,
                    "a message's content stands in the text");
    }
  }
  return 0;
}
