// tokenizer.json beside a model that is in order: what loads encodes and decodes.
#include "fuzz.h"
#include "model_file/model_file.h"
#include "tokenizer/tokenizer.h"

using namespace rung;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::shared_ptr<const ModelFile> model = [] {
    for (const char* file :
         {"model.safetensors", "config.json", "tokenizer_config.json", "generation_config.json"}) {
      fuzz::link_fixture(std::string("llama-untied/") + file, file);
    }
    return open_model(fuzz::folder());
  }();
  fuzz::write_file("tokenizer.json", fuzz::text(data, size));
  std::unique_ptr<Tokenizer> tokenizer;
  {
    const fuzz::MemoryBound bound(size);
    if (!fuzz::accepted([&] { tokenizer = std::make_unique<Tokenizer>(load_tokenizer(*model)); })) return 0;
  }
  const std::string text = "The rung, <|im_start|>é 12 \xff";
  for (const bool parse_special : {false, true}) {
    for (const int32_t id : tokenizer->encode(text, parse_special)) {
      fuzz::require(id >= 0 && id < tokenizer->vocabulary(), "ids are in the vocabulary");
      tokenizer->piece(id);
    }
  }
  for (const std::string& warning : tokenizer->warnings()) fuzz::check_error(warning);
  return 0;
}
