// The second half of a GGUF file's description: the directory, which says for each tensor its name,
// dimensions, type and where its data lies. Everything in it is checked against the file's size here, so that
// later code need not.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model_file/ggml_type.h"
#include "model_file/gguf_metadata.h"
#include "tensor/shape.h"

namespace rung {

struct GgufTensor {
  std::string_view name;
  Shape shape;           // outermost first; the file writes dimensions innermost first
  const GgmlType* type;  // never null
  uint64_t offset;       // from the start of the data section, as in the file
  uint64_t position;     // from the start of the file
  uint64_t bytes;

  // "[576, 1536]" in the file's order, innermost first.
  std::string dims_text() const;
};

struct GgufDirectory {
  static constexpr uint32_t kDefaultAlignment = 32;

  uint32_t alignment = kDefaultAlignment;  // of every tensor's offset: general.alignment
  uint64_t data_offset = 0;                // where the data section starts in the file
  std::vector<GgufTensor> tensors;         // in the file's order
  std::vector<size_t> by_name;             // positions in tensors, sorted by name

  const GgufTensor* find(std::string_view name) const;  // null if there is none
};

// Reads the directory; the reader must stand behind the metadata. Throws Error with one line naming the
// tensor and field if: general.alignment is no power of two of at least 8 or no UINT32; a tensor has not 1 to
// 4 dimensions of at least 1, an unknown type, rows that are no multiple of the type's block, a size that
// overflows, an offset that is not aligned, or data beyond the end of the file; two tensors have one name or
// overlap.
GgufDirectory read_gguf_directory(ByteReader& reader, const GgufMetadata& metadata);

}  // namespace rung
