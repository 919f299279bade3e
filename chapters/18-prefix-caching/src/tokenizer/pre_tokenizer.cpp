// The patterns of the pre-tokenizers, and the cutting.
#include "tokenizer/pre_tokenizer.h"

#include "rung/error.h"
#include "rung/utf8.h"

namespace rung {

namespace {

constexpr const char* kDigit = R"(\p{N})";
constexpr const char* kGpt2 = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr const char* kQwen2 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
    R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* kLlama3 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
    R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";

// The characters with Unicode's property White_Space. PCRE2's own \s also takes U+180E, which was a space
// until Unicode 6.3 and is none for the library that the models' tokenizers were made with.
constexpr const char* kSpaces =
    R"(\t-\r \x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000})";

// Writes the classes \s and \S of a published pattern out, inside and outside of brackets.
std::string with_exact_spaces(std::string_view pattern) {
  std::string result;
  bool in_brackets = false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '\\') {
      if (pattern[i] == '[') in_brackets = true;
      if (pattern[i] == ']') in_brackets = false;
      result += pattern[i];
      continue;
    }
    const char escape = pattern[++i];
    if (escape == 's') {
      result += in_brackets ? kSpaces : std::string("[") + kSpaces + "]";
    } else if (escape == 'S') {
      result += std::string("[^") + kSpaces + "]";
    } else {
      result += '\\';
      result += escape;
    }
  }
  return result;
}

struct Spelling {
  const char* name;
  PreTokenizerKind kind;
};
constexpr Spelling kSpellings[] = {
    {"gpt-2", PreTokenizerKind::gpt2},          {"smollm", PreTokenizerKind::smollm},
    {"qwen2", PreTokenizerKind::qwen2},         {"deepseek-r1-qwen", PreTokenizerKind::qwen2},
    {"llama-bpe", PreTokenizerKind::llama_bpe}, {"llama3", PreTokenizerKind::llama_bpe},
    {"llama-v3", PreTokenizerKind::llama_bpe},
};

}  // namespace

const char* name(PreTokenizerKind kind) {
  for (const Spelling& spelling : kSpellings) {
    if (spelling.kind == kind) return spelling.name;
  }
  return "";
}

PreTokenizerKind find_pre_tokenizer(std::string_view name, const std::string& where) {
  std::string known;
  for (const Spelling& spelling : kSpellings) {
    if (spelling.name == name) return spelling.kind;
    known += (known.empty() ? "" : ", ") + std::string(spelling.name);
  }
  fail(where, " is ", quoted(name), ", expected one of: ", known);
}

const char* published_pattern(PreTokenizerKind kind) {
  return kind == PreTokenizerKind::qwen2 ? kQwen2 : kind == PreTokenizerKind::llama_bpe ? kLlama3 : kGpt2;
}

PreTokenizer::PreTokenizer(PreTokenizerKind kind) {
  if (kind == PreTokenizerKind::smollm) steps_.emplace_back(kDigit);
  steps_.emplace_back(with_exact_spaces(published_pattern(kind)));
}

void PreTokenizer::split(std::string_view text, const std::function<void(std::string_view)>& visit) const {
  while (!text.empty()) {
    const size_t valid = utf8_valid_prefix(text);
    const std::string_view characters = text.substr(0, valid);
    if (steps_.size() == 1) {
      steps_[0].split(characters, visit);
    } else {
      steps_[0].split(characters, [&](std::string_view piece) { steps_[1].split(piece, visit); });
    }
    text.remove_prefix(valid);
    if (!text.empty()) {
      visit(text.substr(0, 1));
      text.remove_prefix(1);
    }
  }
}

}  // namespace rung
