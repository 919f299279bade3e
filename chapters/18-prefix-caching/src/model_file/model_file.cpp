// Which reader a path is for, and the lookup of a tensor that must be there.
#include "model_file/model_file.h"

#include <cstring>
#include <filesystem>

#include "model_file/gguf_model.h"
#include "model_file/safetensors_model.h"
#include "rung/error.h"
#include "rung/mapped_file.h"

namespace rung {

namespace fs = std::filesystem;

const Tensor& ModelFile::tensor(std::string_view canonical_name, const Shape& expected) const {
  const Tensor* found = find(canonical_name);
  const std::string stored = stored_name(canonical_name);
  const std::string shown = rung::quoted(canonical_name) +
                            (stored != canonical_name ? " (" + stored + " in the file)" : std::string());
  if (found == nullptr) fail(path(), ": tensor ", shown, " is missing");
  if (found->shape() != expected) {
    fail(path(), ": tensor ", shown, " has shape ", found->shape().text(), ", expected ", expected.text());
  }
  return *found;
}

namespace {

bool is_gguf_file(const std::string& path) {
  const MappedFile file(path);
  return file.bytes().size() >= 4 && std::memcmp(file.bytes().data(), "GGUF", 4) == 0;
}

}  // namespace

bool is_safetensors_path(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error) || fs::path(path).extension() == ".safetensors";
}

std::shared_ptr<const ModelFile> open_model(const std::string& path) {
  if (is_safetensors_path(path)) return std::make_shared<const SafetensorsModel>(path);
  // Files called .gguf go to the reader whatever they hold, since its errors say what is wrong with them.
  if (fs::path(path).extension() == ".gguf" || is_gguf_file(path))
    return std::make_shared<const GgufModel>(path);
  fail(path, ": is neither a GGUF file (it does not start with GGUF) nor a folder or file with safetensors");
}

}  // namespace rung
