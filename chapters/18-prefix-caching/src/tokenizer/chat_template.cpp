// The known chat templates: their SHA-256 sums and what each of them writes.
#include "tokenizer/chat_template.h"

#include <ctime>
#include <string_view>

#include "rung/error.h"
#include "rung/sha256.h"
#include "rung/utf8.h"
#include "tokenizer/characters.h"
#include "tokenizer/utf8_codes.h"

namespace rung {

namespace {

// A template that we know, by the SHA-256 of its whole text without the line break at its end, if it has one
// (Jinja drops it). Several revisions of a family may render the same.
struct KnownTemplate {
  const char* sha256;
  const char* family;
  bool always_prompts = false;  // writes the start of the answer whether asked to or not
};
constexpr KnownTemplate kKnown[] = {
    // SmolLM2-*-Instruct
    {"872be49dbb638044ad01b60388f48d469ff2980e5f0dccdc22ec907db54d0788", "smollm2"},
    // Qwen2.5-*-Instruct
    {"55b2f4a26ac9ee719330a61a0c39d9e538b0e9322212f048326318cff4f8674a", "qwen2.5"},
    // Qwen3-*: as first published, and the revision that can read content in parts
    {"87a2728cb8dc9fe424d624542f6060ec05a1d285ebbec578bb078900e33396b5", "qwen3"},
    {"a55ee1b1660128b7098723e0abcd92caa0788061051c62d51cbe87d9cf1974d8", "qwen3"},
    // Meta-Llama-3-*-Instruct: as it is now, and as first published
    {"ba03a121d097859c7b5b9cd03af99aafe95275210d2876f642ad9929a150f122", "llama-3"},
    {"b48c47f6443892716176eb200bf4ef108f64e06ca26ed0fa8ebc0a4b3992fcb2", "llama-3", true},
    // Llama-3.1-*-Instruct and Llama-3.3-70B-Instruct
    {"93c0e9aa3629bbd77e68dbc0f5621f6e6b23aa8d74b932595cdb8d64684526d7", "llama-3.1"},
    // Llama-3.2-*-Instruct
    {"d82792f95932f1c9cef5c4bd992f171225e3bf8c7b609b4557c9e1ec96be819f", "llama-3.2"},
};

constexpr const char* kFamilies[] = {"smollm2", "qwen2.5", "qwen3", "llama-3", "llama-3.1", "llama-3.2"};

std::string family_list() {
  std::string list;
  for (const char* family : kFamilies) list += (list.empty() ? "" : ", ") + std::string(family);
  return list;
}

bool starts_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}
bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

std::string_view strip_breaks_left(std::string_view text) {
  const size_t begin = text.find_first_not_of('\n');
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin);
}
std::string_view strip_breaks_right(std::string_view text) {
  return text.substr(0, text.find_last_not_of('\n') + 1);
}

// Jinja's `trim`, which is Python's str.strip(): white space and the four separators U+001C to U+001F.
bool is_stripped(char32_t code) {
  return is_white_space(code) || (code >= 0x1c && code <= 0x1f);
}
std::string_view strip(std::string_view text) {
  for (int length; (length = utf8_sequence_length(text)) > 0 && is_stripped(decode_utf8(text));) {
    text.remove_prefix(length);
  }
  for (;;) {
    const std::string_view last = last_character(text);
    if (last.empty() || !is_stripped(decode_utf8(last))) return text;
    text.remove_suffix(last.size());
  }
}

// "<|im_start|>user\nHi<|im_end|>\n"
std::string im_turn(std::string_view role, std::string_view content) {
  return "<|im_start|>" + std::string(role) + "\n" + std::string(content) + "<|im_end|>\n";
}

std::string render_smollm2(const std::vector<Message>& messages, const ChatOptions& options) {
  std::string text;
  if (messages[0].role != "system") {
    text += im_turn("system", "You are a helpful AI assistant named SmolLM, trained by Hugging Face");
  }
  for (const Message& message : messages) text += im_turn(message.role, message.content);
  if (options.add_generation_prompt) text += "<|im_start|>assistant\n";
  return text;
}

std::string render_qwen25(const std::vector<Message>& messages, const ChatOptions& options) {
  std::string text;
  if (messages[0].role != "system") {
    text += im_turn("system", "You are Qwen, created by Alibaba Cloud. You are a helpful assistant.");
  }
  for (const Message& message : messages) text += im_turn(message.role, message.content);
  if (options.add_generation_prompt) text += "<|im_start|>assistant\n";
  return text;
}

// An answer of Qwen3: what it thought, between <think> and </think>, and what it said.
struct Answer {
  std::string_view thought, content;
};
Answer split_answer(std::string_view content) {
  const size_t first = content.find("</think>");
  if (first == std::string_view::npos) return {"", content};
  std::string_view thought = strip_breaks_right(content.substr(0, first));
  if (const size_t open = thought.rfind("<think>"); open != std::string_view::npos) {
    thought.remove_prefix(open + std::string_view("<think>").size());
  }
  const size_t last = content.rfind("</think>");
  return {strip_breaks_left(thought),
          strip_breaks_left(content.substr(last + std::string_view("</think>").size()))};
}

std::string render_qwen3(const std::vector<Message>& messages, const ChatOptions& options) {
  // Thoughts stay only behind the last question; a user message that wraps a tool's answer is no question.
  size_t last_question = messages.size() - 1;
  for (size_t i = messages.size(); i-- > 0;) {
    const std::string& content = messages[i].content;
    const bool tool_answer =
        starts_with(content, "<tool_response>") && ends_with(content, "</tool_response>");
    if (messages[i].role == "user" && !tool_answer) {
      last_question = i;
      break;
    }
  }
  std::string text;
  for (size_t i = 0; i < messages.size(); ++i) {
    if (messages[i].role != "assistant") {
      text += im_turn(messages[i].role, messages[i].content);
      continue;
    }
    const auto [thought, content] = split_answer(messages[i].content);
    if (i > last_question && (i + 1 == messages.size() || !thought.empty())) {
      text += im_turn("assistant", "<think>\n" + std::string(strip_breaks_right(thought)) + "\n</think>\n\n" +
                                       std::string(strip_breaks_left(content)));
    } else {
      text += im_turn("assistant", content);
    }
  }
  if (options.add_generation_prompt) {
    text += "<|im_start|>assistant\n";
    if (!options.thinking) text += "<think>\n\n</think>\n\n";
  }
  return text;
}

std::string header_turn(std::string_view role, std::string_view content) {
  return "<|start_header_id|>" + std::string(role) + "<|end_header_id|>\n\n" + std::string(content) +
         "<|eot_id|>";
}

std::string render_llama3(const std::vector<Message>& messages, const ChatOptions& options) {
  std::string text = "<|begin_of_text|>";
  for (const Message& message : messages) text += header_turn(message.role, strip(message.content));
  if (options.add_generation_prompt) text += "<|start_header_id|>assistant<|end_header_id|>\n\n";
  return text;
}

// Today as "05 Mar 2025", with English months whatever the locale.
std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const int day = local.tm_mday;
  return (day < 10 ? "0" : "") + std::to_string(day) + " " + kMonths[local.tm_mon] + " " +
         std::to_string(local.tm_year + 1900);
}

std::string render_llama32(const std::vector<Message>& messages, const ChatOptions& options,
                           const std::string& default_date) {
  const bool has_system = messages[0].role == "system";
  std::string system = "Cutting Knowledge Date: December 2023\nToday Date: ";
  system += (options.date.empty() ? default_date : options.date) + "\n\n";
  if (has_system) system += strip(messages[0].content);
  std::string text = "<|begin_of_text|>" + header_turn("system", system);
  for (size_t i = has_system ? 1 : 0; i < messages.size(); ++i) {
    text += header_turn(messages[i].role, strip(messages[i].content));
  }
  if (options.add_generation_prompt) text += "<|start_header_id|>assistant<|end_header_id|>\n\n";
  return text;
}

// Without a template: the contents, one after the other.
std::string render_none(const std::vector<Message>& messages) {
  std::string text;
  for (const Message& message : messages) text += (text.empty() ? "" : "\n") + message.content;
  return text;
}

const KnownTemplate* find_template(std::string_view text) {
  if (ends_with(text, "\n")) text.remove_suffix(1);
  const std::string sha256 = sha256_hex(text);
  for (const KnownTemplate& known : kKnown) {
    if (sha256 == known.sha256) return &known;
  }
  return nullptr;
}

constexpr const char* kAdvice = "pass --chat-template FAMILY|none, where FAMILY is one of: ";

KnownTemplate choose_template(const std::string& chat_template, const ChatOptions& options) {
  if (options.family == "none") return {"", "none"};
  if (!options.family.empty()) {
    for (const char* family : kFamilies) {
      if (options.family == family) return {"", family};
    }
    fail("there is no chat template ", quoted(options.family), ": ", kAdvice, family_list());
  }
  if (chat_template.empty()) fail("the model has no chat template: ", kAdvice, family_list());
  const KnownTemplate* known = find_template(chat_template);
  if (known == nullptr) {
    fail("the model's chat template is none that Rung knows (SHA-256 ",
         sha256_hex(chat_template).substr(0, 12), "…): ", kAdvice, family_list());
  }
  return *known;
}

void check_messages(const std::vector<Message>& messages) {
  if (messages.empty()) fail("a conversation without messages, expected at least one");
  for (size_t i = 0; i < messages.size(); ++i) {
    const std::string& role = messages[i].role;
    if (role == "tool" || role == "ipython" || role == "function") {
      fail("message ", i, " has the role ", quoted(role), ": tools are not supported");
    }
    if (role != "system" && role != "user" && role != "assistant") {
      fail("message ", i, " has the role ", quoted(role), ", expected system, user or assistant");
    }
  }
}

}  // namespace

std::string recognise_chat_template(const std::string& chat_template) {
  const KnownTemplate* known = find_template(chat_template);
  return known == nullptr ? "" : known->family;
}

std::string render_chat(const std::vector<Message>& messages, const std::string& chat_template,
                        const ChatOptions& chat_options) {
  const KnownTemplate chosen = choose_template(chat_template, chat_options);
  const std::string family = chosen.family;
  ChatOptions options = chat_options;
  options.add_generation_prompt |= chosen.always_prompts;
  check_messages(messages);
  if (family == "smollm2") return render_smollm2(messages, options);
  if (family == "qwen2.5") return render_qwen25(messages, options);
  if (family == "qwen3") return render_qwen3(messages, options);
  if (family == "llama-3") return render_llama3(messages, options);
  if (family == "llama-3.1") return render_llama32(messages, options, "26 Jul 2024");
  if (family == "llama-3.2") return render_llama32(messages, options, today());
  return render_none(messages);
}

}  // namespace rung
