// Reading one value: a number, a string, or an array that is checked and left in place.
#include "model_file/gguf_value.h"

#include <algorithm>

namespace rung {

namespace {

struct TypeInfo {
  const char* name;
  size_t bytes;
};

constexpr TypeInfo kTypes[] = {
    {"UINT8", 1}, {"INT8", 1},   {"UINT16", 2}, {"INT16", 2},  {"UINT32", 4}, {"INT32", 4},   {"FLOAT32", 4},
    {"BOOL", 1},  {"STRING", 0}, {"ARRAY", 0},  {"UINT64", 8}, {"INT64", 8},  {"FLOAT64", 8},
};

// The fewest bytes that an element can take: an empty string is its length, an empty array its element type
// and length.
size_t least_bytes(GgufType type) {
  if (type == GgufType::string) return 8;
  if (type == GgufType::array) return 12;
  return fixed_bytes(type);
}

GgufType read_type(ByteReader& reader, const Field& field) {
  const uint64_t offset = reader.offset();
  const uint32_t type = reader.read<uint32_t>(field);
  if (type >= std::size(kTypes)) {
    reader.fail_at(offset, field.text(), " is ", type, ", expected a value type from 0 to ",
                   std::size(kTypes) - 1);
  }
  return static_cast<GgufType>(type);
}

bool read_bool(ByteReader& reader, std::string_view key) {
  const uint64_t offset = reader.offset();
  const uint8_t byte = reader.read<uint8_t>({"value", key});
  if (byte > 1) reader.fail_at(offset, "a boolean of ", quoted(key), " is ", int{byte}, ", expected 0 or 1");
  return byte == 1;
}

void skip_elements(ByteReader& reader, GgufType type, uint64_t size, std::string_view key, int depth);

// Steps over an array, checks everything in it, and gives a view of it. depth: how many arrays this one
// stands in.
GgufArray read_array(ByteReader& reader, std::string_view key, int depth) {
  if (depth >= kGgufMaxNesting) {
    reader.fail_at(reader.offset(), "the value of ", quoted(key), " nests arrays more than ", kGgufMaxNesting,
                   " deep");
  }
  const GgufType type = read_type(reader, {"element type", key});
  const uint64_t size = reader.read<uint64_t>({"array length", key});
  reader.check_count(size, least_bytes(type), {"array length", key});
  ByteReader start = reader;
  skip_elements(reader, type, size, key, depth);
  return GgufArray(type, size, start.take(reader.offset() - start.offset(), {"array", key}));
}

void skip_elements(ByteReader& reader, GgufType type, uint64_t size, std::string_view key, int depth) {
  switch (type) {
    case GgufType::boolean:
      for (uint64_t i = 0; i < size; ++i) read_bool(reader, key);
      return;
    case GgufType::string:
      for (uint64_t i = 0; i < size; ++i) reader.read_string({"string in the array", key});
      return;
    case GgufType::array:
      for (uint64_t i = 0; i < size; ++i) read_array(reader, key, depth + 1);
      return;
    default:
      reader.take(size * fixed_bytes(type), {"array", key});  // check_count has shown that the product fits
  }
}

GgufValue read_value(ByteReader& reader, GgufType type, std::string_view key) {
  const Field field{"value", key};
  switch (type) {
    case GgufType::uint8:
      return reader.read<uint8_t>(field);
    case GgufType::int8:
      return reader.read<int8_t>(field);
    case GgufType::uint16:
      return reader.read<uint16_t>(field);
    case GgufType::int16:
      return reader.read<int16_t>(field);
    case GgufType::uint32:
      return reader.read<uint32_t>(field);
    case GgufType::int32:
      return reader.read<int32_t>(field);
    case GgufType::float32:
      return reader.read<float>(field);
    case GgufType::boolean:
      return read_bool(reader, key);
    case GgufType::string:
      return reader.read_string(field);
    case GgufType::array:
      return read_array(reader, key, 0);
    case GgufType::uint64:
      return reader.read<uint64_t>(field);
    case GgufType::int64:
      return reader.read<int64_t>(field);
    case GgufType::float64:
      return reader.read<double>(field);
  }
  fail("value type ", static_cast<uint32_t>(type), " does not exist");
}

}  // namespace

const char* name(GgufType type) {
  return kTypes[static_cast<size_t>(type)].name;
}

size_t fixed_bytes(GgufType type) {
  return kTypes[static_cast<size_t>(type)].bytes;
}

std::string type_name(const GgufValue& value) {
  const auto* array = std::get_if<GgufArray>(&value);
  return array == nullptr ? name(type_of(value)) : std::string("ARRAY of ") + name(array->element_type());
}

void GgufArray::for_each(const std::function<void(const GgufValue&)>& visit, uint64_t limit) const {
  const uint64_t count = std::min(limit, size_);
  ByteReader reader(bytes_, "array");
  for (uint64_t i = 0; i < count; ++i) visit(read_value(reader, element_type_, {}));
}

std::vector<std::string_view> GgufArray::strings() const {
  if (element_type_ != GgufType::string)
    fail("an array of ", name(element_type_), " was read as one of STRING");
  std::vector<std::string_view> strings;
  strings.reserve(size_);
  ByteReader reader(bytes_, "array");
  for (uint64_t i = 0; i < size_; ++i) strings.push_back(reader.read_string("string"));
  return strings;
}

GgufValue read_gguf_value(ByteReader& reader, std::string_view key) {
  const GgufType type = read_type(reader, {"value type", key});
  return read_value(reader, type, key);
}

}  // namespace rung
