// The tensor list and the statistics of one tensor, decoded in chunks.
#include "commands/inspect_tensors.h"

#include <algorithm>
#include <cmath>
#include <ostream>
#include <vector>

#include "commands/json_text.h"
#include "commands/number_text.h"
#include "rung/error.h"
#include "tensor/decode.h"

namespace rung {

namespace {

constexpr size_t kFirstValues = 8;
constexpr int64_t kChunkElements = 256 * 64;  // a multiple of every block

struct Statistics {
  float min = INFINITY, max = -INFINITY;
  double mean = 0;  // of the finite values, like min and max
  int64_t finite = 0, non_finite = 0;
  std::vector<float> first;
};

Statistics statistics(const Tensor& tensor) {
  Statistics result;
  std::vector<float> values(static_cast<size_t>(std::min(tensor.elements(), kChunkElements)));
  double sum = 0;
  for (int64_t begin = 0; begin < tensor.elements(); begin += kChunkElements) {
    const int64_t count = std::min(kChunkElements, tensor.elements() - begin);
    const auto* bytes = static_cast<const uint8_t*>(tensor.raw());
    decode_row(tensor.dtype(), bytes + row_bytes(tensor.dtype(), static_cast<size_t>(begin)), values.data(),
               count);
    if (begin == 0) {
      result.first.assign(values.begin(), values.begin() + std::min<int64_t>(count, kFirstValues));
    }
    for (int64_t i = 0; i < count; ++i) {
      const float value = values[static_cast<size_t>(i)];
      if (!std::isfinite(value)) {
        ++result.non_finite;
        continue;
      }
      ++result.finite;
      result.min = std::min(result.min, value);
      result.max = std::max(result.max, value);
      sum += value;
    }
  }
  if (result.finite > 0) result.mean = sum / static_cast<double>(result.finite);
  return result;
}

size_t shown_tensors(const GgufFile& file, int64_t limit) {
  const size_t all = file.tensors().size();
  return limit == 0 ? all : std::min(static_cast<size_t>(limit), all);
}

std::string json_sizes(const Shape& shape) {
  return shape.text();
}  // the same brackets and commas

}  // namespace

void print_tensors(std::ostream& out, const GgufFile& file, int64_t limit) {
  out << "[tensors]\n"
      << "alignment: " << file.alignment() << "\n"
      << "tensor_data_offset: " << file.data_offset() << "\n";
  const size_t count = shown_tensors(file, limit);
  for (size_t i = 0; i < count; ++i) {
    const GgufTensor& tensor = file.tensors()[i];
    out << escaped(tensor.name) << " | dims=" << tensor.dims_text() << " | type=" << tensor.type->name
        << " | offset=" << tensor.offset << "\n";
  }
  if (count < file.tensors().size()) out << "... (" << file.tensors().size() - count << " more tensors)\n";
}

void print_tensors_json(std::ostream& out, const GgufFile& file, int64_t limit) {
  out << "\"alignment\": " << file.alignment() << ", \"data_offset\": " << file.data_offset()
      << ", \"tensors\": [";
  const size_t count = shown_tensors(file, limit);
  for (size_t i = 0; i < count; ++i) {
    const GgufTensor& tensor = file.tensors()[i];
    out << (i == 0 ? "" : ", ") << "{\"name\": " << json_string(tensor.name)
        << ", \"dims\": " << tensor.dims_text() << ", \"shape\": " << json_sizes(tensor.shape)
        << ", \"type\": " << json_string(tensor.type->name) << ", \"offset\": " << tensor.offset
        << ", \"bytes\": " << tensor.bytes << "}";
  }
  out << "]";
}

void print_tensor(std::ostream& out, const std::string& name, const Tensor& tensor) {
  const Statistics found = statistics(tensor);
  out << "[tensor " << escaped(name) << "]\n"
      << "shape: " << tensor.shape().text() << " (outermost first)\n"
      << "type: " << rung::name(tensor.dtype()) << "\n"
      << "bytes: " << tensor.bytes() << "\n";
  if (found.finite > 0) {
    out << "min: " << shortest(found.min) << "\n"
        << "max: " << shortest(found.max) << "\n"
        << "mean: " << shortest(static_cast<float>(found.mean)) << "\n";
  }
  out << "non-finite: " << found.non_finite << " of " << tensor.elements() << "\n"
      << "first values:";
  for (float value : found.first) out << " " << shortest(value);
  out << (tensor.elements() > static_cast<int64_t>(found.first.size()) ? " ...\n" : "\n");
}

void print_tensor_json(std::ostream& out, const std::string& name, const Tensor& tensor) {
  const Statistics found = statistics(tensor);
  const bool any = found.finite > 0;
  out << "\"tensor\": {\"name\": " << json_string(name) << ", \"shape\": " << json_sizes(tensor.shape())
      << ", \"type\": " << json_string(rung::name(tensor.dtype())) << ", \"bytes\": " << tensor.bytes()
      << ", \"min\": " << (any ? json_number(found.min) : "null")
      << ", \"max\": " << (any ? json_number(found.max) : "null")
      << ", \"mean\": " << (any ? json_number(found.mean) : "null")
      << ", \"non_finite\": " << found.non_finite << ", \"first_values\": [";
  for (size_t i = 0; i < found.first.size(); ++i) out << (i == 0 ? "" : ", ") << json_number(found.first[i]);
  out << "]}";
}

}  // namespace rung
