// Mapping a GGUF file and viewing its tensors.
#include "model_file/gguf_file.h"

#include "rung/error.h"

namespace rung {

std::shared_ptr<const GgufFile> GgufFile::open(const std::string& path) {
  return std::shared_ptr<const GgufFile>(new GgufFile(std::make_shared<const MappedFile>(path)));
}

GgufFile::GgufFile(std::shared_ptr<const MappedFile> file)
    : GgufFile(file, ByteReader(file->bytes(), file->path())) {}

GgufFile::GgufFile(std::shared_ptr<const MappedFile> file, ByteReader reader)
    : file_(std::move(file)),
      metadata_(read_gguf_metadata(reader)),
      directory_(read_gguf_directory(reader, metadata_)) {
  views_.reserve(directory_.tensors.size());
  for (const GgufTensor& tensor : directory_.tensors) {
    if (!tensor.type->dtype) {
      views_.emplace_back();
      continue;
    }
    // The mapping is read-only; nothing writes through a tensor that it did not allocate.
    void* data = const_cast<uint8_t*>(file_->bytes().data() + tensor.position);
    views_.emplace_back(*tensor.type->dtype, tensor.shape, data, Place::host, file_);
  }
}

const Tensor* GgufFile::find(std::string_view name) const {
  const GgufTensor* entry = directory_.find(name);
  if (entry == nullptr) return nullptr;
  if (!entry->type->dtype) {
    fail(path(), ": tensor ", quoted(name), " is stored as ", entry->type->name,
         ", which Rung does not decode; it decodes F32, F16, BF16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q4_K, Q5_K "
         "and Q6_K");
  }
  return &views_[static_cast<size_t>(entry - directory_.tensors.data())];
}

}  // namespace rung
