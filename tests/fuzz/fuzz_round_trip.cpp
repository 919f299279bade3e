// Text to ids and back, with a tokenizer of each family (the first byte chooses): nothing is lost, nothing is
// added.
#include <memory>
#include <vector>

#include "fuzz.h"
#include "model_file/model_file.h"
#include "rung/utf8.h"
#include "tokenizer/normalize.h"
#include "tokenizer/stream_decoder.h"
#include "tokenizer/tokenizer.h"

using namespace rung;

namespace {

struct Family {
  std::unique_ptr<Tokenizer> tokenizer;
  bool normalizes;  // puts the text into Unicode's normal form C first
};

std::vector<Family> load_families() {
  std::vector<Family> families;
  for (const std::string name : {"llama-untied", "llama-rope3", "llama-linear", "qwen2-bias", "qwen3"}) {
    for (const char* suffix : {".gguf", ""}) {
      const std::shared_ptr<const ModelFile> model =
          open_model(fuzz::link_fixture(name + suffix, name + suffix));
      families.push_back({std::make_unique<Tokenizer>(load_tokenizer(*model)), name.rfind("qwen", 0) == 0});
    }
  }
  return families;
}

// The bytes of text that the vocabulary has tokens for.
std::string with_token(const Tokenizer& tokenizer, std::string_view text) {
  std::string kept;
  for (const char& byte : text) {
    if (tokenizer.bytes_without_token({&byte, 1}) == 0) kept += byte;
  }
  return kept;
}

std::string streamed(const Tokenizer& tokenizer, const std::vector<int32_t>& ids) {
  StreamDecoder decoder;
  std::string text;
  for (const int32_t id : ids) {
    const std::string piece = decoder.push(tokenizer.piece(id));
    fuzz::require(utf8_valid_prefix(piece) == piece.size(), "every streamed piece is valid UTF-8");
    text += piece;
  }
  return text + decoder.finish();
}

std::string at_once(std::string_view bytes) {
  StreamDecoder decoder;
  const std::string text = decoder.push(bytes);
  return text + decoder.finish();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::vector<Family> families = load_families();
  if (size == 0) return 0;
  const Family& family = families[data[0] % families.size()];
  const Tokenizer& tokenizer = *family.tokenizer;
  const std::string_view text = fuzz::text(data + 1, size - 1);
  const std::string expected =
      with_token(tokenizer, family.normalizes ? normalized(text) : std::string(text));

  const std::vector<int32_t> plain = tokenizer.encode(text, false, false);
  fuzz::require(tokenizer.decode(plain, true) == expected, "decode(encode(text)) is text");
  fuzz::require(streamed(tokenizer, plain) == at_once(expected),
                "streaming gives the text that decoding at once does");

  // Special tokens: the text is still all there, where no token takes white space along or is normalized.
  const std::vector<int32_t> special = tokenizer.encode(text, true, false);
  if (!family.normalizes)
    fuzz::require(tokenizer.decode(special, true) == expected, "special tokens decode to their text");
  for (const int32_t id : special)
    fuzz::require(id >= 0 && id < tokenizer.vocabulary(), "ids are in the vocabulary");
  return 0;
}
