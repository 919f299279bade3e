// Text to token ids and back: pre-tokenizer, byte-level BPE, special tokens.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace rung {

class ModelFile;

class Tokenizer {
 public:
  ~Tokenizer();
  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;

  // Token ids of text. With parse_special, added and control tokens written out in the text ("<|im_start|>")
  // become their ids, longest first; without, they are plain text. BOS is put in front if the model asks for
  // it and the text does not start with it already, EOS likewise behind; add_bos = false leaves both out.
  // Bytes that are no UTF-8 become tokens one by one. Throws Error only if text is longer than 2^31 - 1
  // bytes. Several threads may call it at once.
  std::vector<int32_t> encode(std::string_view text, bool parse_special = true, bool add_bos = true) const;

  // The bytes of one token; a special token's text. Throws Error if id is out of range.
  std::string_view piece(int32_t id) const;
  // The bytes of all of them one after the other; special tokens only if asked for. May be invalid UTF-8 in
  // the middle of a character: StreamDecoder holds that back.
  std::string decode(const std::vector<int32_t>& ids, bool with_special = false) const;

  // How many bytes of text have no token in this vocabulary: encode() leaves them out, as the libraries that
  // the models were trained with do. (SmolLM2's lacks 21: some control characters, and bytes that UTF-8 never
  // or hardly ever uses.)
  size_t bytes_without_token(std::string_view text) const;

  int vocabulary() const;             // ids run from 0 to below this: all rows of the embedding table
  bool is_special(int32_t id) const;  // control tokens, which are not part of the text
  bool is_end(int32_t id) const;      // ends a generation: EOS, EOT, and what generation_config.json lists
  int32_t bos() const;                // -1 if there is none
  int32_t eos() const;                // -1 if there is none
  int32_t find(std::string_view special_token)
      const;  // id of an added or control token by its text; -1 if there is none
  // The model's Jinja chat template; empty if it has none.
  const std::string& chat_template() const;
  // One line each about what was missing in the file and assumed.
  const std::vector<std::string>& warnings() const;

  struct Vocabulary;  // what a file says: read by the two loaders
  explicit Tokenizer(Vocabulary vocabulary);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// From GGUF metadata (tokenizer.ggml.*) or from tokenizer.json, tokenizer_config.json and
// generation_config.json in the model's folder. Throws Error naming the file and the key.
Tokenizer load_tokenizer(const ModelFile& model);

}  // namespace rung
