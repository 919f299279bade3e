// The parts of `inspect` that show safetensors: files and their metadata, tensors under both their names.
#pragma once

#include <iosfwd>

#include "model_file/safetensors_folder.h"

namespace rung {

// "[header]": for each file its name, size, and where the data starts; then the number of tensors and their
// bytes.
void print_header(std::ostream& out, const SafetensorsFolder& weights);

// "[metadata]": `key: value` for what stands in __metadata__.
void print_metadata(std::ostream& out, const SafetensorsFolder& weights);

// "[tensors]": `name | canonical=… | shape=… | dtype=… | begin=…` for the first `limit` tensors (0: all).
void print_tensors(std::ostream& out, const SafetensorsFolder& weights, uint64_t limit);

// `"files": […]`, and `"tensors": […]`: members of a JSON object.
void print_files_json(std::ostream& out, const SafetensorsFolder& weights);
void print_tensors_json(std::ostream& out, const SafetensorsFolder& weights, uint64_t limit);

// The tensor of this name, which may be the file's or the canonical one. Throws Error naming `path` if there
// is none.
Tensor read_tensor(const SafetensorsFolder& weights, const std::string& path, const std::string& name);

}  // namespace rung
