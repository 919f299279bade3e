// A conversation as the text that a model was trained on. Each known template is recognised by its whole
// text, never by a part of it, and rendered exactly as transformers' apply_chat_template does. The text
// begins with BOS where the template writes it; Tokenizer::encode() puts no second one in front. Templates of
// tools are not rendered.
#pragma once

#include <string>
#include <vector>

namespace rung {

struct Message {
  std::string role;  // system, user, assistant
  std::string content;
};

struct ChatOptions {
  std::string family;    // overrides recognition: smollm2, qwen2.5, qwen3, llama-3, llama-3.1,
                         // llama-3.2, none (the messages' contents alone); empty: recognise
  std::string date;      // llama-3.1 and llama-3.2 print it: "26 Jul 2024"; empty: today, for
                         // llama-3.1 the 26 Jul 2024 that its template has
  bool thinking = true;  // qwen3: false adds an empty thought
  bool add_generation_prompt = true;
};

// Name of the family whose template has exactly this text; empty if none has.
std::string recognise_chat_template(const std::string& chat_template);

// Throws Error for an unknown template (naming --chat-template FAMILY|none), an unknown family, a tool
// message, or roles in an order that the template refuses.
std::string render_chat(const std::vector<Message>& messages, const std::string& chat_template,
                        const ChatOptions& options);

}  // namespace rung
