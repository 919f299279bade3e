// Reading header and entries, the index, and the typed getters.
#include "model_file/gguf_metadata.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <type_traits>

namespace rung {

namespace {

// The fewest bytes of an entry: the key's length and one byte, the value's type and one byte.
constexpr uint64_t kLeastEntryBytes = 8 + 1 + 4 + 1;
constexpr size_t kMaxKeyBytes = 65535;  // from the GGUF specification

constexpr bool is_integer(GgufType type) {
  return type == GgufType::uint8 || type == GgufType::int8 || type == GgufType::uint16 ||
         type == GgufType::int16 || type == GgufType::uint32 || type == GgufType::int32 ||
         type == GgufType::uint64 || type == GgufType::int64;
}

constexpr bool is_float(GgufType type) {
  return type == GgufType::float32 || type == GgufType::float64;
}

template <class T>
struct Expected;
template <>
struct Expected<uint32_t> {
  static constexpr const char* text = "an integer from 0 to 4294967295";
};
template <>
struct Expected<int32_t> {
  static constexpr const char* text = "an integer from -2147483648 to 2147483647";
};
template <>
struct Expected<uint64_t> {
  static constexpr const char* text = "an integer from 0 to 18446744073709551615";
};
template <>
struct Expected<int64_t> {
  static constexpr const char* text = "an integer from -9223372036854775808 to 9223372036854775807";
};
template <>
struct Expected<float> {
  static constexpr const char* text = "a FLOAT32";
};
template <>
struct Expected<bool> {
  static constexpr const char* text = "a BOOL";
};
template <>
struct Expected<std::string_view> {
  static constexpr const char* text = "a STRING";
};
template <>
struct Expected<std::vector<std::string_view>> {
  static constexpr const char* text = "an ARRAY of STRING";
};
template <>
struct Expected<std::vector<int32_t>> {
  static constexpr const char* text = "an ARRAY of integers from -2147483648 to 2147483647";
};
template <>
struct Expected<std::vector<uint32_t>> {
  static constexpr const char* text = "an ARRAY of integers from 0 to 4294967295";
};
template <>
struct Expected<std::vector<float>> {
  static constexpr const char* text = "an ARRAY of FLOAT32";
};

// Stores the value as Target if it is an integer that fits, or for a floating-point target a float; false if
// not.
template <class Target>
bool convert_number(const GgufValue& value, Target& target) {
  // BEGIN SOLUTION 01.3
  return std::visit(
      [&](auto number) {
        using Source = decltype(number);
        if constexpr (std::is_floating_point_v<Target>) {
          if constexpr (!std::is_floating_point_v<Source>) return false;
        } else if constexpr (!std::is_integral_v<Source> || std::is_same_v<Source, bool>) {
          return false;
        } else {
          // A cast that loses nothing comes back unchanged and keeps the sign.
          const Target candidate = static_cast<Target>(number);
          if (static_cast<Source>(candidate) != number || (candidate < 0) != (number < 0)) return false;
        }
        if constexpr (std::is_arithmetic_v<Source>) target = static_cast<Target>(number);
        return std::is_arithmetic_v<Source>;
      },
      value);
  // STUB: (void)value;
  // STUB: (void)target;
  // STUB: not_done("01.3");
  // END SOLUTION
}

}  // namespace

GgufMetadata::GgufMetadata(std::string source, GgufHeader header, std::vector<GgufEntry> entries)
    : source_(std::move(source)), header_(header), entries_(std::move(entries)), by_key_(entries_.size()) {
  std::iota(by_key_.begin(), by_key_.end(), size_t{0});
  std::sort(by_key_.begin(), by_key_.end(), [&](size_t a, size_t b) {
    return entries_[a].key != entries_[b].key ? entries_[a].key < entries_[b].key : a < b;
  });
  for (size_t i = 1; i < by_key_.size(); ++i) {
    if (entries_[by_key_[i - 1]].key == entries_[by_key_[i]].key) {
      fail(source_, ": metadata entries ", by_key_[i - 1], " and ", by_key_[i], " have the same key ",
           quoted(entries_[by_key_[i]].key), ", expected each key once");
    }
  }
}

const GgufValue* GgufMetadata::find(std::string_view key) const {
  const auto found =
      std::lower_bound(by_key_.begin(), by_key_.end(), key,
                       [&](size_t index, std::string_view k) { return entries_[index].key < k; });
  if (found == by_key_.end() || entries_[*found].key != key) return nullptr;
  return &entries_[*found].value;
}

const GgufValue& GgufMetadata::require(std::string_view key, const char* expected) const {
  const GgufValue* value = find(key);
  if (value == nullptr) fail(source_, ": metadata key ", quoted(key), " is missing, expected ", expected);
  return *value;
}

void GgufMetadata::fail_type(std::string_view key, const GgufValue& value, const char* expected) const {
  std::ostringstream found;
  std::visit(
      [&](auto number) {
        if constexpr (std::is_arithmetic_v<decltype(number)>) found << " " << +number;
      },
      value);
  fail(source_, ": metadata key ", quoted(key), " is ", type_name(value), found.str(), ", expected ",
       expected);
}

template <class T>
T GgufMetadata::as(std::string_view key, const GgufValue& value) const {
  if constexpr (std::is_same_v<T, std::string_view> || std::is_same_v<T, bool>) {
    if (const T* exact = std::get_if<T>(&value)) return *exact;
  } else if constexpr (std::is_arithmetic_v<T>) {
    T number;
    if (convert_number(value, number)) return number;
  } else if constexpr (std::is_same_v<T, std::vector<std::string_view>>) {
    const auto* array = std::get_if<GgufArray>(&value);
    if (array != nullptr && array->element_type() == GgufType::string) return array->strings();
  } else if (const auto* array = std::get_if<GgufArray>(&value)) {
    const GgufType type = array->element_type();
    using Number = typename T::value_type;
    if (std::is_same_v<Number, float> ? is_float(type) : is_integer(type)) {
      T numbers;
      numbers.reserve(array->size());
      array->for_each([&](const GgufValue& element) {
        Number number;
        if (!convert_number(element, number)) fail_type(key, value, Expected<T>::text);
        numbers.push_back(number);
      });
      return numbers;
    }
  }
  fail_type(key, value, Expected<T>::text);
}

template <class T>
T GgufMetadata::get(std::string_view key) const {
  return as<T>(key, require(key, Expected<T>::text));
}

template <class T>
T GgufMetadata::get_or(std::string_view key, T fallback) const {
  const GgufValue* value = find(key);
  return value == nullptr ? std::move(fallback) : as<T>(key, *value);
}

uint32_t GgufMetadata::get_u32(std::string_view key) const {
  return get<uint32_t>(key);
}
int32_t GgufMetadata::get_i32(std::string_view key) const {
  return get<int32_t>(key);
}
uint64_t GgufMetadata::get_u64(std::string_view key) const {
  return get<uint64_t>(key);
}
int64_t GgufMetadata::get_i64(std::string_view key) const {
  return get<int64_t>(key);
}
float GgufMetadata::get_f32(std::string_view key) const {
  return get<float>(key);
}
bool GgufMetadata::get_bool(std::string_view key) const {
  return get<bool>(key);
}
std::string_view GgufMetadata::get_string(std::string_view key) const {
  return get<std::string_view>(key);
}
std::vector<std::string_view> GgufMetadata::get_strings(std::string_view key) const {
  return get<std::vector<std::string_view>>(key);
}
std::vector<int32_t> GgufMetadata::get_i32s(std::string_view key) const {
  return get<std::vector<int32_t>>(key);
}
std::vector<uint32_t> GgufMetadata::get_u32s(std::string_view key) const {
  return get<std::vector<uint32_t>>(key);
}
std::vector<float> GgufMetadata::get_f32s(std::string_view key) const {
  return get<std::vector<float>>(key);
}

uint32_t GgufMetadata::get_u32_or(std::string_view key, uint32_t fallback) const {
  return get_or(key, fallback);
}
int32_t GgufMetadata::get_i32_or(std::string_view key, int32_t fallback) const {
  return get_or(key, fallback);
}
uint64_t GgufMetadata::get_u64_or(std::string_view key, uint64_t fallback) const {
  return get_or(key, fallback);
}
int64_t GgufMetadata::get_i64_or(std::string_view key, int64_t fallback) const {
  return get_or(key, fallback);
}
float GgufMetadata::get_f32_or(std::string_view key, float fallback) const {
  return get_or(key, fallback);
}
bool GgufMetadata::get_bool_or(std::string_view key, bool fallback) const {
  return get_or(key, fallback);
}
std::string_view GgufMetadata::get_string_or(std::string_view key, std::string_view fallback) const {
  return get_or(key, fallback);
}
std::vector<std::string_view> GgufMetadata::get_strings_or(std::string_view key,
                                                           std::vector<std::string_view> fallback) const {
  return get_or(key, std::move(fallback));
}
std::vector<int32_t> GgufMetadata::get_i32s_or(std::string_view key, std::vector<int32_t> fallback) const {
  return get_or(key, std::move(fallback));
}
std::vector<uint32_t> GgufMetadata::get_u32s_or(std::string_view key, std::vector<uint32_t> fallback) const {
  return get_or(key, std::move(fallback));
}
std::vector<float> GgufMetadata::get_f32s_or(std::string_view key, std::vector<float> fallback) const {
  return get_or(key, std::move(fallback));
}

namespace {

void check_magic(ByteReader& reader) {
  const Span<const uint8_t> found = reader.take(4, "magic");
  const std::string_view text(reinterpret_cast<const char*>(found.data()), found.size());
  if (text != "GGUF") {
    reader.fail_at(0, "the magic is ", quoted(text), ", expected \"GGUF\": this is no GGUF file");
  }
}

uint32_t read_version(ByteReader& reader) {
  const uint64_t offset = reader.offset();
  const uint32_t version = reader.read<uint32_t>("version");
  if (version == 2 || version == 3) return version;
  const bool swapped =
      version != 0 && (version & 0xffff) == 0;  // a small number, its bytes the other way round
  if (swapped) {
    reader.fail_at(offset,
                   "the version has its bytes in big-endian order, and so has the whole file: expected a ",
                   "little-endian GGUF file (gguf-convert-endian of the `gguf` package converts it)");
  }
  reader.fail_at(offset, "the version is ", version, ", expected 2 or 3",
                 version == 1 ? " (version 1 is from before October 2023: convert the model anew)" : "");
}

}  // namespace

GgufMetadata read_gguf_metadata(ByteReader& reader) {
  check_magic(reader);
  GgufHeader header;
  header.version = read_version(reader);
  header.tensor_count = reader.read<uint64_t>("tensor count");
  header.metadata_count = reader.read<uint64_t>("metadata count");
  reader.check_count(header.metadata_count, kLeastEntryBytes, "metadata count");

  std::vector<GgufEntry> entries;
  entries.reserve(header.metadata_count);
  for (uint64_t i = 0; i < header.metadata_count; ++i) {
    const uint64_t offset = reader.offset();
    const std::string_view key = reader.read_string("key of a metadata entry");
    if (key.empty() || key.size() > kMaxKeyBytes) {
      reader.fail_at(offset, "the key of metadata entry ", i, " has ", key.size(), " bytes, expected 1 to ",
                     kMaxKeyBytes);
    }
    entries.push_back({key, read_gguf_value(reader, key)});
  }
  return GgufMetadata(std::string(reader.source()), header, std::move(entries));
}

}  // namespace rung
