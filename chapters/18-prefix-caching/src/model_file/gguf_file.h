// A GGUF file, mapped into memory: its metadata, its directory, and its tensors as views of the mapping.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model_file/gguf_directory.h"
#include "model_file/gguf_metadata.h"
#include "rung/mapped_file.h"
#include "tensor/tensor.h"

namespace rung {

class GgufFile {
 public:
  // Maps the file and checks all of it but the values of the weights. Throws Error with one line naming the
  // path, and the offset, key or tensor that is wrong.
  static std::shared_ptr<const GgufFile> open(const std::string& path);

  const std::string& path() const { return file_->path(); }
  const GgufMetadata& metadata() const { return metadata_; }
  const std::vector<GgufTensor>& tensors() const { return directory_.tensors; }  // in the file's order
  uint32_t alignment() const { return directory_.alignment; }
  uint64_t data_offset() const { return directory_.data_offset; }

  // The directory's entry of this name; null if there is none.
  const GgufTensor* entry(std::string_view name) const { return directory_.find(name); }
  // The tensor of this name; null if there is none. It and its copies keep the file mapped. Throws Error
  // naming tensor and type if its elements are of a type that Rung does not decode.
  const Tensor* find(std::string_view name) const;

 private:
  explicit GgufFile(std::shared_ptr<const MappedFile> file);
  GgufFile(std::shared_ptr<const MappedFile> file, ByteReader reader);

  std::shared_ptr<const MappedFile> file_;
  GgufMetadata metadata_;
  GgufDirectory directory_;
  std::vector<Tensor> views_;  // one for each entry; empty where its type is not decoded
};

}  // namespace rung
