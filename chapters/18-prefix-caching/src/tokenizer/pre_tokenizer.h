// Cuts text into words before BPE sees it; no token ever reaches over the end of a word. Which cuts a model
// was trained with is part of the model.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/regex.h"

namespace rung {

enum class PreTokenizerKind { gpt2, smollm, qwen2, llama_bpe };

// As `tokenizer.ggml.pre` spells it: "gpt-2", "smollm", "qwen2", "llama-bpe".
const char* name(PreTokenizerKind kind);

// The kind that a GGUF file names; other spellings in use for the same rules are known too. Throws Error
// naming `where` and all known names for any other.
PreTokenizerKind find_pre_tokenizer(std::string_view name, const std::string& where);

// The pattern by which a kind cuts, spelled as tokenizer.json files have it.
const char* published_pattern(PreTokenizerKind kind);

class PreTokenizer {
 public:
  explicit PreTokenizer(PreTokenizerKind kind);

  // Calls visit for each word in order; the words put together are the text. Bytes that are no valid UTF-8
  // are words of one byte each, and the text before and after them is cut as if it stood alone.
  void split(std::string_view text, const std::function<void(std::string_view word)>& visit) const;

 private:
  // Applied one after the other: each cuts what the one before left whole.
  std::vector<Regex> steps_;
};

}  // namespace rung
