// Writes safetensors files byte by byte, right ones and wrong ones: nothing is checked.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rung::testing {

// A file: the header's size (that of `header` unless given), the header, the data.
inline std::string safetensors_bytes(std::string_view header, std::string_view data) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(header.size() >> (8 * i) & 255);
  return bytes.append(header).append(data);
}
inline std::string safetensors_bytes(std::string_view header, std::string_view data, uint64_t header_size) {
  std::string bytes = safetensors_bytes(header, data);
  for (int i = 0; i < 8; ++i) bytes[static_cast<size_t>(i)] = static_cast<char>(header_size >> (8 * i) & 255);
  return bytes;
}

// One member of a header: "name": {"dtype": …, "shape": …, "data_offsets": […]}.
inline std::string tensor_json(const std::string& name, const std::string& dtype, const std::string& shape,
                               uint64_t begin, uint64_t end) {
  return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape + ",\"data_offsets\":[" +
         std::to_string(begin) + "," + std::to_string(end) + "]}";
}

// A file with these float32 tensors of one dimension, in order; values count up from 0.
inline std::string safetensors_of(const std::vector<std::string>& names, int elements = 2) {
  std::string header = "{", data;
  uint64_t at = 0;
  for (const std::string& name : names) {
    if (at > 0) header += ",";
    const uint64_t end = at + static_cast<uint64_t>(elements) * sizeof(float);
    header += tensor_json(name, "F32", "[" + std::to_string(elements) + "]", at, end);
    for (int i = 0; i < elements; ++i) {
      const float value = static_cast<float>(at / sizeof(float) + static_cast<uint64_t>(i));
      data.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    at = end;
  }
  header += "}";
  while (header.size() % 8 != 0) header += ' ';
  return safetensors_bytes(header, data);
}

}  // namespace rung::testing
