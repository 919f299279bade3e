// Row by row: decode to float32, round to 16 bits.
#include "model/weight_conversion.h"

#include <vector>

#include "rung/error.h"
#include "tensor/decode.h"
#include "tensor/float16.h"

namespace rung {

Tensor converted(const Tensor& tensor, DType dtype) {
  if (tensor.dtype() == dtype) return tensor;
  if (dtype != DType::f16 && dtype != DType::bf16)
    fail("weights are converted to F16 or BF16, not to ", name(dtype));
  Tensor result = Tensor::host(dtype, tensor.shape());
  const int64_t columns = tensor.shape().columns();
  std::vector<float> row(static_cast<size_t>(columns));
  const auto* source = static_cast<const unsigned char*>(tensor.raw());
  auto* destination = static_cast<uint16_t*>(result.raw());
  for (int64_t r = 0; r < tensor.shape().rows(); ++r) {
    decode_row(tensor.dtype(), source + row_bytes(tensor.dtype(), static_cast<size_t>(r * columns)),
               row.data(), columns);
    for (int64_t c = 0; c < columns; ++c) {
      destination[r * columns + c] = dtype == DType::f16 ? f32_to_f16(row[c]) : f32_to_bf16(row[c]);
    }
  }
  return result;
}

}  // namespace rung
