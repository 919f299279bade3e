// One read-only view of a model, whichever format it is stored in: hyperparameters, and tensors by canonical
// name (the names that GGUF uses: "token_embd.weight", "blk.0.attn_q.weight", …). Data stays in the mapped
// file.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model_file/hyperparameters.h"
#include "tensor/tensor.h"

namespace rung {

class GgufFile;

class ModelFile {
 public:
  virtual ~ModelFile() = default;

  virtual const std::string& path() const = 0;  // a .gguf file, or the folder that holds the safetensors
  virtual const char* format() const = 0;       // "gguf" or "safetensors"
  virtual const Hyperparameters& hyperparameters() const = 0;
  virtual std::vector<std::string> tensor_names() const = 0;  // canonical, in file order
  // Null if the model has no tensor of this name. The view keeps the file mapped. Throws Error if Rung cannot
  // read the type in which it is stored.
  virtual const Tensor* find(std::string_view canonical_name) const = 0;
  // What the file itself calls the tensor: the canonical name in GGUF, "model.layers.0.…" in safetensors.
  virtual std::string stored_name(std::string_view canonical_name) const = 0;
  // The GGUF file behind this view; null for safetensors (whose tokenizer stands in files beside the
  // weights).
  virtual const GgufFile* gguf() const { return nullptr; }
  // Are the tensors views of files, read from the disk when they are first touched?
  virtual bool mapped() const { return true; }

  // Throws Error naming the model and the tensor if it is missing, or both shapes if `expected` differs.
  const Tensor& tensor(std::string_view canonical_name, const Shape& expected) const;
};

// Whether open_model takes the path for safetensors: a folder, or a file called *.safetensors.
bool is_safetensors_path(const std::string& path);

// Opens a GGUF file or a folder that holds config.json and *.safetensors. Throws Error with one line naming
// the file.
std::shared_ptr<const ModelFile> open_model(const std::string& path);

}  // namespace rung
