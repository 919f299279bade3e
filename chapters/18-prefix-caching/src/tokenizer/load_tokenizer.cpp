// Finds a model's tokenizer: in the GGUF file itself, or in the files beside its safetensors.
#include <filesystem>

#include "model_file/gguf_file.h"
#include "model_file/model_file.h"
#include "tokenizer/vocabulary.h"

namespace rung {

namespace {

std::string folder_of(const std::string& path) {
  return std::filesystem::is_directory(path) ? path : std::filesystem::path(path).parent_path().string();
}

}  // namespace

Tokenizer load_tokenizer(const ModelFile& model) {
  const Tensor* embedding = model.find("token_embd.weight");
  const int rows = embedding != nullptr ? static_cast<int>(embedding->shape()[0]) : 0;
  return model.gguf() != nullptr ? load_gguf_tokenizer(model.gguf()->metadata(), rows)
                                 : load_json_tokenizer(folder_of(model.path()), rows);
}

}  // namespace rung
