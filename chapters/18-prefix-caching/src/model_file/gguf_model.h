// A model in a GGUF file as a ModelFile: GGUF's tensor names are the canonical ones, hyperparameters come
// from the metadata.
#pragma once

#include <memory>

#include "model_file/gguf_file.h"
#include "model_file/model_file.h"

namespace rung {

class GgufModel : public ModelFile {
 public:
  // Throws Error naming the key that is missing or wrong, and for everything with which Rung would compute
  // something else than the file means: other architectures, experts, sliding windows, RoPE scaling types,
  // biases.
  explicit GgufModel(const std::string& path);

  const std::string& path() const override { return file_->path(); }
  const char* format() const override { return "gguf"; }
  const Hyperparameters& hyperparameters() const override { return hyperparameters_; }
  std::vector<std::string> tensor_names() const override;
  const Tensor* find(std::string_view canonical_name) const override { return file_->find(canonical_name); }
  std::string stored_name(std::string_view canonical_name) const override {
    return std::string(canonical_name);
  }
  const GgufFile* gguf() const override { return file_.get(); }

 private:
  std::shared_ptr<const GgufFile> file_;
  Hyperparameters hyperparameters_;
};

}  // namespace rung
