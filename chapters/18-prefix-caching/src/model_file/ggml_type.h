// The types of tensor elements that a GGUF file can name: more than Rung decodes, so that any file can be
// listed.
#pragma once

#include <cstdint>
#include <optional>

#include "tensor/dtype.h"

namespace rung {

struct GgmlType {
  uint32_t id;  // as in the file
  const char* name;
  uint32_t block_elements;
  uint32_t block_bytes;
  std::optional<DType> dtype;  // empty if Rung cannot decode it
};

// Null if no type has this id (among them those that ggml has withdrawn: 4, 5, 31–33, 36–38).
const GgmlType* find_ggml_type(uint32_t id);

}  // namespace rung
