// Values that other implementations computed, read from the JSON files under tests/reference and
// tests/fixtures.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tokenizer/chat_template.h"

namespace rung::testing {

using Ids = std::vector<int32_t>;

struct TokenCase {
  std::string text;
  Ids ids;       // special tokens recognised, no BOS
  Ids with_bos;  // the same with BOS where the model asks for it; only in fixtures
  Ids plain;     // special tokens taken for text
};

// What Hugging Face tokenizers makes of odd strings with the vocabulary of this name ("smollm", "gpt-2", …).
std::vector<TokenCase> token_cases(const std::string& vocabulary);
// The same for a fixture ("qwen3").
std::vector<TokenCase> fixture_token_cases(const std::string& fixture);

// Texts and their normal form C by Python.
std::vector<std::pair<std::string, std::string>> normalization_cases();

// A tokenizer.json with added tokens of every flag, and the ids of texts.
std::string flagged_tokenizer_json();
std::vector<TokenCase> flagged_token_cases();

struct ChatCase {
  std::string family;
  std::vector<Message> messages;
  ChatOptions options;
  std::string text;
};
std::vector<ChatCase> chat_cases();

// A file that tests/reference/fetch_vocabularies.py gets; empty if it is not there.
std::string vocabulary_path(const std::string& name);

}  // namespace rung::testing
