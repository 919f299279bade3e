// What a model's files say about its tokenizer, before anything is built from it: both loaders fill this in.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tokenizer/added_tokens.h"
#include "tokenizer/pre_tokenizer.h"
#include "tokenizer/tokenizer.h"

namespace rung {

class GgufMetadata;

enum class TokenType : uint8_t {
  normal,   // made by BPE; its text is spelled in letters (tokenizer/byte_level.h)
  control,  // not part of the text: <|im_end|>
  added,    // part of the text, but found in it as a whole and not made by BPE: <tool_call>
  unused,   // an id without meaning: a padding row of the embedding table
};

// Views point into the model's files, or whatever else the loader keeps until the Tokenizer is built.
struct Tokenizer::Vocabulary {
  std::string source;      // names the file in errors
  std::string tokens_key;  // where in the file tokens and merges stand, for errors
  std::string merges_key;

  std::vector<std::string_view> tokens;                               // by id
  std::vector<TokenType> types;                                       // by id
  std::vector<std::pair<std::string_view, std::string_view>> merges;  // by rank
  // How to find the tokens of type control and added in a text. Those that have no entry are found as they
  // are.
  std::vector<AddedToken> added;

  PreTokenizerKind pre_tokenizer = PreTokenizerKind::gpt2;
  bool ignore_merges =
      false;  // a word that is a token as a whole is that token, whatever the merges would make of it
  bool normalize = false;  // to Unicode's normal form C
  bool add_bos = false, add_eos = false;
  int32_t bos = -1, eos = -1;
  std::vector<int32_t> ends;  // tokens that end a generation, eos among them

  std::string chat_template;
  std::vector<std::string> warnings;
};

// From the metadata of a GGUF file. rows: of the embedding table; ids up to there that the file gives no
// token are unused, and more tokens than rows are an error. 0: as many as there are tokens.
Tokenizer load_gguf_tokenizer(const GgufMetadata& metadata, int rows = 0);

// From tokenizer.json in folder, and, where they are there, tokenizer_config.json, chat_template.jinja and
// generation_config.json. rows as above.
Tokenizer load_json_tokenizer(const std::string& folder, int rows = 0);

}  // namespace rung
