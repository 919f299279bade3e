// A model in safetensors as a ModelFile: weights under canonical names, hyperparameters from config.json.
#pragma once

#include <vector>

#include "model_file/model_file.h"
#include "model_file/safetensors_folder.h"

namespace rung {

class SafetensorsModel : public ModelFile {
 public:
  // path: the model's folder, or a .safetensors file in it (a file called model-….safetensors that belongs to
  // an index stands for the whole model). Throws Error naming what is missing or contradicts config.json.
  explicit SafetensorsModel(const std::string& path);

  const std::string& path() const override { return path_; }  // the folder
  const char* format() const override { return "safetensors"; }
  const Hyperparameters& hyperparameters() const override { return hyperparameters_; }
  std::vector<std::string> tensor_names() const override;
  const Tensor* find(std::string_view canonical_name) const override;
  std::string stored_name(std::string_view canonical_name) const override;

  const SafetensorsFolder& weights() const { return weights_; }

 private:
  struct Named {
    std::string canonical;  // a tensor that Rung has no name for keeps its own
    SafetensorsFolder::Item item;
    Tensor tensor;  // empty if it is stored as a type that Rung cannot read
  };
  void name_tensors();
  void check_vocabulary(const std::string& config) const;

  std::string path_;
  SafetensorsFolder weights_;
  std::vector<Named> tensors_;     // in file order
  std::vector<uint32_t> by_name_;  // indices into tensors_, sorted by canonical name
  Hyperparameters hyperparameters_;
};

}  // namespace rung
