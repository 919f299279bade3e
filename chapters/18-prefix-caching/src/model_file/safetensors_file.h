// One safetensors file: 8 bytes that give the size of a JSON header, the header, and the data of all tensors
// without a gap. Format: https://huggingface.co/docs/safetensors ("Format").
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rung/mapped_file.h"
#include "tensor/tensor.h"

namespace rung {

// A safetensors dtype: its name in the header and the bits of one element.
struct SafetensorsType {
  const char* name;
  int bits;
};

struct SafetensorsEntry {
  std::string name;
  const SafetensorsType* type;
  int dims;             // may exceed Shape::kMaxDims; then `shape` is empty and the tensor cannot be read
  Shape shape;          // outermost first, as the file has it
  uint64_t begin, end;  // bytes, counted from the start of the data
};

class SafetensorsFile {
 public:
  // Maps the file and checks every field of its header: types, names that occur twice, ranges that leave the
  // file, overlap or leave a hole, and the product of dtype and shape. Throws Error naming the file and the
  // tensor.
  explicit SafetensorsFile(const std::string& path);

  const std::string& path() const { return file_->path(); }
  uint64_t file_bytes() const { return file_->bytes().size(); }
  uint64_t data_offset() const { return data_offset_; }  // of the first byte of data in the file
  const std::vector<SafetensorsEntry>& tensors() const { return entries_; }  // in the order of the header
  // The strings of "__metadata__".
  const std::vector<std::pair<std::string, std::string>>& metadata() const { return metadata_; }

  const SafetensorsEntry* find(std::string_view name) const;  // null if there is none

  // F32, F16 and BF16: a view into the mapped file, or an aligned copy where the data is not aligned for its
  // type. Throws Error naming the tensor and its type for all others.
  Tensor read(const SafetensorsEntry& entry) const;

 private:
  void read_header();
  void index_names();
  void check_layout() const;

  std::shared_ptr<const MappedFile> file_;
  uint64_t data_offset_ = 0;
  std::vector<SafetensorsEntry> entries_;
  std::vector<uint32_t> by_name_;  // indices into entries_, sorted by name
  std::vector<std::pair<std::string, std::string>> metadata_;
};

}  // namespace rung
