// Reading the directory and checking it: shapes, types, sizes, positions, names, overlaps.
#include "model_file/gguf_directory.h"

#include <algorithm>
#include <numeric>

#include "rung/error.h"

namespace rung {

namespace {

// The fewest bytes of an entry: an empty name's length, the number of dimensions, one dimension, type and
// offset.
constexpr uint64_t kLeastEntryBytes = 8 + 4 + 8 + 4 + 8;

uint32_t read_alignment(const GgufMetadata& metadata) {
  const GgufValue* value = metadata.find("general.alignment");
  if (value == nullptr) return GgufDirectory::kDefaultAlignment;
  const uint32_t* alignment = std::get_if<uint32_t>(value);
  if (alignment == nullptr) {
    fail(metadata.source(), ": metadata key \"general.alignment\" is ", type_name(*value),
         ", expected a UINT32");
  }
  const bool power_of_two = *alignment != 0 && (*alignment & (*alignment - 1)) == 0;
  if (!power_of_two || *alignment < 8) {
    fail(metadata.source(), ": metadata key \"general.alignment\" is ", *alignment,
         ", expected a power of two of at least 8");
  }
  return *alignment;
}

Shape read_shape(ByteReader& reader, std::string_view name) {
  const uint64_t offset = reader.offset();
  const uint32_t dims = reader.read<uint32_t>({"number of dimensions", name});
  if (dims < 1 || dims > Shape::kMaxDims) {
    reader.fail_at(offset, "tensor ", quoted(name), " has ", dims, " dimensions, expected 1 to ",
                   Shape::kMaxDims);
  }
  int64_t sizes[Shape::kMaxDims];
  int64_t elements = 1;
  for (uint32_t i = 0; i < dims; ++i) {
    const uint64_t size_offset = reader.offset();
    const uint64_t size = reader.read<uint64_t>({"dimensions", name});
    if (size < 1 || size > INT64_MAX ||
        __builtin_mul_overflow(elements, static_cast<int64_t>(size), &elements)) {
      reader.fail_at(size_offset, "tensor ", quoted(name), ": dimension ", i, " is ", size, ", expected ",
                     size < 1 ? "at least 1" : "a size whose product with the others stays below 2^63");
    }
    sizes[dims - 1 - i] = static_cast<int64_t>(size);
  }
  return Shape(sizes, static_cast<int>(dims));
}

const GgmlType& read_ggml_type(ByteReader& reader, std::string_view name) {
  const uint64_t offset = reader.offset();
  const uint32_t id = reader.read<uint32_t>({"type", name});
  const GgmlType* type = find_ggml_type(id);
  if (type == nullptr) {
    reader.fail_at(offset, "tensor ", quoted(name), " has the unknown type ", id,
                   ", expected one of ggml's (0 is F32)");
  }
  return *type;
}

GgufTensor read_entry(ByteReader& reader) {
  GgufTensor tensor{};
  tensor.name = reader.read_string("name of a tensor");
  const uint64_t shape_offset = reader.offset();
  tensor.shape = read_shape(reader, tensor.name);
  tensor.type = &read_ggml_type(reader, tensor.name);
  const int64_t columns = tensor.shape.columns();
  if (columns % tensor.type->block_elements != 0) {
    reader.fail_at(shape_offset, "tensor ", quoted(tensor.name), " has rows of ", columns,
                   " elements, expected a multiple of ", tensor.type->block_elements, " for ",
                   tensor.type->name);
  }
  const uint64_t blocks = static_cast<uint64_t>(tensor.shape.elements()) / tensor.type->block_elements;
  if (__builtin_mul_overflow(blocks, uint64_t{tensor.type->block_bytes}, &tensor.bytes)) {
    reader.fail_at(shape_offset, "tensor ", quoted(tensor.name), " of shape ", tensor.shape.text(),
                   " and type ", tensor.type->name, " has more than 2^64 bytes");
  }
  tensor.offset = reader.read<uint64_t>({"offset", tensor.name});
  return tensor;
}

// Works out where the tensor's data lies and checks that it is all in the file.
void place(GgufTensor& tensor, const GgufDirectory& directory, const ByteReader& reader) {
  const uint64_t file_bytes = reader.offset() + reader.remaining();
  if (tensor.offset % directory.alignment != 0) {
    fail(reader.source(), ": tensor ", quoted(tensor.name), " has offset ", tensor.offset,
         ", expected a multiple of the alignment ", directory.alignment);
  }
  uint64_t end;
  // BEGIN SOLUTION 02.3
  if (__builtin_add_overflow(directory.data_offset, tensor.offset, &tensor.position) ||
      __builtin_add_overflow(tensor.position, tensor.bytes, &end) || end > file_bytes) {
    fail(reader.source(), ": tensor ", quoted(tensor.name), " has ", tensor.bytes, " bytes at offset ",
         tensor.offset, " of the data section, which starts at ", directory.data_offset,
         ", but the file has only ", file_bytes, " bytes: it is damaged or cut off");
  }
  // STUB: (void)end;
  // STUB: (void)file_bytes;
  // STUB: not_done("02.3");
  // END SOLUTION
}

void check_names(const GgufDirectory& directory, std::string_view source) {
  for (size_t i = 1; i < directory.by_name.size(); ++i) {
    const size_t a = directory.by_name[i - 1], b = directory.by_name[i];
    if (directory.tensors[a].name == directory.tensors[b].name) {
      fail(source, ": tensors ", a, " and ", b, " of the directory have the same name ",
           quoted(directory.tensors[b].name), ", expected each name once");
    }
  }
}

void check_overlap(const GgufDirectory& directory, std::string_view source) {
  std::vector<size_t> by_position(directory.tensors.size());
  std::iota(by_position.begin(), by_position.end(), size_t{0});
  std::sort(by_position.begin(), by_position.end(), [&](size_t a, size_t b) {
    return directory.tensors[a].position < directory.tensors[b].position;
  });
  for (size_t i = 1; i < by_position.size(); ++i) {
    const GgufTensor& earlier = directory.tensors[by_position[i - 1]];
    const GgufTensor& later = directory.tensors[by_position[i]];
    if (later.position < earlier.position + earlier.bytes) {
      fail(source, ": tensors ", quoted(earlier.name), " and ", quoted(later.name),
           " overlap: the first has bytes ", earlier.offset, " to ", earlier.offset + earlier.bytes,
           " of the data section, the second starts at ", later.offset);
    }
  }
}

}  // namespace

std::string GgufTensor::dims_text() const {
  int64_t sizes[Shape::kMaxDims];
  for (int i = 0; i < shape.dims(); ++i) sizes[i] = shape[shape.dims() - 1 - i];
  return Shape(sizes, shape.dims()).text();
}

const GgufTensor* GgufDirectory::find(std::string_view name) const {
  const auto found =
      std::lower_bound(by_name.begin(), by_name.end(), name,
                       [&](size_t index, std::string_view n) { return tensors[index].name < n; });
  if (found == by_name.end() || tensors[*found].name != name) return nullptr;
  return &tensors[*found];
}

GgufDirectory read_gguf_directory(ByteReader& reader, const GgufMetadata& metadata) {
  GgufDirectory directory;
  directory.alignment = read_alignment(metadata);
  const uint64_t count = metadata.header().tensor_count;
  reader.check_count(count, kLeastEntryBytes, "tensor count");
  directory.tensors.reserve(count);
  for (uint64_t i = 0; i < count; ++i) directory.tensors.push_back(read_entry(reader));

  const uint64_t alignment = directory.alignment;
  directory.data_offset = (reader.offset() + alignment - 1) / alignment * alignment;
  for (GgufTensor& tensor : directory.tensors) place(tensor, directory, reader);

  directory.by_name.resize(count);
  std::iota(directory.by_name.begin(), directory.by_name.end(), size_t{0});
  std::sort(directory.by_name.begin(), directory.by_name.end(), [&](size_t a, size_t b) {
    const std::string_view first = directory.tensors[a].name, second = directory.tensors[b].name;
    return first != second ? first < second : a < b;
  });
  check_names(directory, reader.source());
  check_overlap(directory, reader.source());
  return directory;
}

}  // namespace rung
