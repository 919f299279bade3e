// The weights of a model in safetensors: one file, or the shards that an index file
// (model.safetensors.index.json) names.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model_file/safetensors_file.h"

namespace rung {

class SafetensorsFolder {
 public:
  struct Item {
    const SafetensorsFile* file;
    const SafetensorsEntry* entry;
  };

  // path: a folder, or one .safetensors file. In a folder it takes model.safetensors, else the shards of
  // model.safetensors.index.json, else the only *.safetensors file. Throws Error naming the file if a shard
  // is missing or lacks a tensor that the index promises, a shard's name leaves the folder, or there is
  // nothing to take.
  explicit SafetensorsFolder(const std::string& path);

  const std::vector<std::unique_ptr<SafetensorsFile>>& files() const { return files_; }
  // All tensors that belong to the model, file by file in the order of their headers. (A shard's tensor that
  // the index does not name is not one of them.)
  const std::vector<Item>& tensors() const { return tensors_; }

 private:
  void open_index(const std::string& folder, const std::string& index);

  std::vector<std::unique_ptr<SafetensorsFile>> files_;
  std::vector<Item> tensors_;
};

}  // namespace rung
