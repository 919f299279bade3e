// The parts of `inspect` that show tensors: the directory of a GGUF file, and what one tensor's values are
// like.
#pragma once

#include <iosfwd>
#include <string>

#include "model_file/gguf_file.h"

namespace rung {

// "[tensors]", alignment and data offset, then `name | dims=[…] | type=… | offset=…` for the first `limit`
// tensors (0: all); dimensions in the file's order.
void print_tensors(std::ostream& out, const GgufFile& file, int64_t limit);

// `"alignment": …, "data_offset": …, "tensors": […]`: members of a JSON object.
void print_tensors_json(std::ostream& out, const GgufFile& file, int64_t limit);

// "[tensor NAME]": shape, type, bytes, then min, max and mean of the finite values, how many are not finite,
// and the first values. Reads the tensor a row at a time, whatever its size.
void print_tensor(std::ostream& out, const std::string& name, const Tensor& tensor);

// `"tensor": {…}`: a member of a JSON object.
void print_tensor_json(std::ostream& out, const std::string& name, const Tensor& tensor);

}  // namespace rung
