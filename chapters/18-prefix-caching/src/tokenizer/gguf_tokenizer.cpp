// Reads a tokenizer from GGUF metadata: tokenizer.ggml.* and tokenizer.chat_template.
#include <algorithm>

#include "model_file/gguf_metadata.h"
#include "rung/error.h"
#include "tokenizer/vocabulary.h"

namespace rung {

namespace {

constexpr const char* kModel = "tokenizer.ggml.model";
constexpr const char* kPre = "tokenizer.ggml.pre";
constexpr const char* kTokens = "tokenizer.ggml.tokens";
constexpr const char* kTypes = "tokenizer.ggml.token_type";
constexpr const char* kMerges = "tokenizer.ggml.merges";

// Control tokens that end a generation in the models we know; GGUF files name only one of them as EOS.
constexpr std::string_view kEnds[] = {"<|endoftext|>", "<|im_end|>", "<|end_of_text|>", "<|eot_id|>",
                                      "<|eom_id|>"};

std::string key(const GgufMetadata& metadata, const char* name) {
  return metadata.source() + ": metadata key \"" + name + "\"";
}

// Token types as numbered in the file: 1 normal, 2 unknown, 3 control, 4 user-defined, 5 unused, 6 byte.
TokenType token_type(int32_t number, const GgufMetadata& metadata, size_t id) {
  switch (number) {
    case 1:
    case 6:
      return TokenType::normal;
    case 2:
    case 3:
      return TokenType::control;
    case 4:
      return TokenType::added;
    case 5:
      return TokenType::unused;
    default:
      fail(key(metadata, kTypes), ": element ", id, " is ", number, ", expected a token type from 1 to 6");
  }
}

bool looks_like_control(std::string_view text) {
  return text.size() > 4 && text.substr(0, 2) == "<|" && text.substr(text.size() - 2) == "|>";
}

void read_types(const GgufMetadata& metadata, Tokenizer::Vocabulary& vocabulary) {
  if (metadata.has(kTypes)) {
    const std::vector<int32_t> numbers = metadata.get_i32s(kTypes);
    if (numbers.size() != vocabulary.tokens.size()) {
      fail(key(metadata, kTypes), " has ", numbers.size(), " elements, expected one for each of the ",
           vocabulary.tokens.size(), " tokens");
    }
    for (size_t id = 0; id < numbers.size(); ++id) {
      vocabulary.types.push_back(token_type(numbers[id], metadata, id));
    }
    return;
  }
  vocabulary.warnings.push_back(key(metadata, kTypes) +
                                " is missing: tokens spelled <|…|> are taken for control tokens");
  for (const std::string_view text : vocabulary.tokens) {
    vocabulary.types.push_back(looks_like_control(text) ? TokenType::control : TokenType::normal);
  }
}

void read_merges(const GgufMetadata& metadata, Tokenizer::Vocabulary& vocabulary) {
  const std::vector<std::string_view> merges = metadata.get_strings(kMerges);
  vocabulary.merges.reserve(merges.size());
  for (size_t rank = 0; rank < merges.size(); ++rank) {
    const size_t space = merges[rank].find(' ');
    if (space == std::string_view::npos) {
      fail(key(metadata, kMerges), ": element ", rank, " is ", quoted(merges[rank]),
           ", expected two tokens with a space between them");
    }
    vocabulary.merges.emplace_back(merges[rank].substr(0, space), merges[rank].substr(space + 1));
  }
}

// The id that a key gives; -1 if it is not there.
int32_t read_id(const GgufMetadata& metadata, const char* name, size_t tokens) {
  if (!metadata.has(name)) return -1;
  const uint32_t id = metadata.get_u32(name);
  if (id >= tokens)
    fail(key(metadata, name), " is ", id, ", expected the id of one of the ", tokens, " tokens");
  return static_cast<int32_t>(id);
}

bool has_token(const Tokenizer::Vocabulary& vocabulary, std::string_view text) {
  return std::find(vocabulary.tokens.begin(), vocabulary.tokens.end(), text) != vocabulary.tokens.end();
}

// Files from before April 2024 do not say how text is cut into words. Their tokens and architecture tell.
PreTokenizerKind guess_pre_tokenizer(const GgufMetadata& metadata, const Tokenizer::Vocabulary& vocabulary) {
  const std::string_view architecture = metadata.get_string_or("general.architecture", "");
  if (has_token(vocabulary, "<|begin_of_text|>")) return PreTokenizerKind::llama_bpe;
  if (architecture == "qwen2" || architecture == "qwen3") return PreTokenizerKind::qwen2;
  if (has_token(vocabulary, "<|im_start|>") && has_token(vocabulary, "<repo_name>"))
    return PreTokenizerKind::smollm;
  return PreTokenizerKind::gpt2;
}

void read_pre_tokenizer(const GgufMetadata& metadata, Tokenizer::Vocabulary& vocabulary) {
  if (metadata.has(kPre)) {
    vocabulary.pre_tokenizer = find_pre_tokenizer(metadata.get_string(kPre), key(metadata, kPre));
  } else {
    vocabulary.pre_tokenizer = guess_pre_tokenizer(metadata, vocabulary);
    vocabulary.warnings.push_back(key(metadata, kPre) + " is missing: text is cut into words as \"" +
                                  name(vocabulary.pre_tokenizer) + "\" does, judging by the vocabulary");
  }
  // Two properties of these models' tokenizers that GGUF has no key for.
  vocabulary.ignore_merges = vocabulary.pre_tokenizer == PreTokenizerKind::llama_bpe;
  vocabulary.normalize = vocabulary.pre_tokenizer == PreTokenizerKind::qwen2;
}

void read_special_ids(const GgufMetadata& metadata, Tokenizer::Vocabulary& vocabulary) {
  const size_t tokens = vocabulary.tokens.size();
  vocabulary.bos = read_id(metadata, "tokenizer.ggml.bos_token_id", tokens);
  vocabulary.eos = read_id(metadata, "tokenizer.ggml.eos_token_id", tokens);
  const int32_t end_of_turn = read_id(metadata, "tokenizer.ggml.eot_token_id", tokens);
  const int32_t end_of_message = read_id(metadata, "tokenizer.ggml.eom_token_id", tokens);
  read_id(metadata, "tokenizer.ggml.padding_token_id", tokens);
  read_id(metadata, "tokenizer.ggml.unknown_token_id", tokens);
  for (const int32_t id : {vocabulary.eos, end_of_turn, end_of_message}) {
    if (id >= 0) vocabulary.ends.push_back(id);
  }
  for (size_t id = 0; id < tokens; ++id) {
    if (vocabulary.types[id] == TokenType::control &&
        std::find(std::begin(kEnds), std::end(kEnds), vocabulary.tokens[id]) != std::end(kEnds)) {
      vocabulary.ends.push_back(static_cast<int32_t>(id));
    }
  }
  // What begins or ends a text is no part of it, whatever type the file gives it.
  for (const int32_t id : {vocabulary.bos, vocabulary.eos, end_of_turn, end_of_message}) {
    if (id >= 0) vocabulary.types[id] = TokenType::control;
  }
  // Llama 3 models put BOS in front, and files that do not say so were made before the key was written.
  vocabulary.add_bos =
      metadata.get_bool_or("tokenizer.ggml.add_bos_token",
                           vocabulary.pre_tokenizer == PreTokenizerKind::llama_bpe && vocabulary.bos >= 0);
  vocabulary.add_eos = metadata.get_bool_or("tokenizer.ggml.add_eos_token", false);
}

}  // namespace

Tokenizer load_gguf_tokenizer(const GgufMetadata& metadata, int rows) {
  Tokenizer::Vocabulary vocabulary;
  vocabulary.source = metadata.source();
  vocabulary.tokens_key = std::string("metadata key \"") + kTokens + "\"";
  vocabulary.merges_key = std::string("metadata key \"") + kMerges + "\"";
  const std::string_view model = metadata.get_string(kModel);
  if (model != "gpt2") {
    fail(key(metadata, kModel), " is ", quoted(model),
         ", expected \"gpt2\" (byte-level BPE, the only kind of tokenizer ", "that this program knows)");
  }
  vocabulary.tokens = metadata.get_strings(kTokens);
  if (vocabulary.tokens.empty() || vocabulary.tokens.size() > INT32_MAX) {
    fail(key(metadata, kTokens), " has ", vocabulary.tokens.size(), " elements, expected 1 to ", INT32_MAX);
  }
  if (rows > 0 && vocabulary.tokens.size() > static_cast<size_t>(rows)) {
    fail(key(metadata, kTokens), " has ", vocabulary.tokens.size(), " elements, expected at most the ", rows,
         " rows of the embedding table");
  }
  read_types(metadata, vocabulary);
  read_merges(metadata, vocabulary);
  read_pre_tokenizer(metadata, vocabulary);
  read_special_ids(metadata, vocabulary);
  vocabulary.chat_template = std::string(metadata.get_string_or("tokenizer.chat_template", ""));
  if (rows > 0) {
    vocabulary.tokens.resize(rows);
    vocabulary.types.resize(rows, TokenType::unused);
  }
  return Tokenizer(std::move(vocabulary));
}

}  // namespace rung
