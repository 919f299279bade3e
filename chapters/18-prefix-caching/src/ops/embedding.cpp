// The embedding on the CPU: each token's row is decoded from however the table is stored.
#include "ops/embedding.h"

#include "ops/check.h"
#include "rung/error.h"
#include "tensor/decode.h"

namespace rung {

void check_token_ids(const Tensor& ids, int64_t vocabulary) {
  const int32_t* id = ids.data<int32_t>();
  for (int64_t i = 0; i < ids.elements(); ++i) {
    if (id[i] < 0 || id[i] >= vocabulary) {
      fail("token ", i, " has id ", id[i], ", expected 0 to ", vocabulary - 1, " (the vocabulary has ",
           vocabulary, " tokens)");
    }
  }
}

void embedding(Cpu& device, Tensor& y, const Tensor& table, const Tensor& ids) {
  const int64_t tokens = ids.elements(), vocabulary = table.shape().rows(), hidden = table.shape().columns();
  check_operand("embedding: ids", ids, DType::i32, {tokens}, Place::host);
  check_operand("embedding: table", table, {vocabulary, hidden}, Place::host);
  check_operand("embedding: y", y, DType::f32, {tokens, hidden}, Place::host);
  check_token_ids(ids, vocabulary);
  const size_t stride = row_bytes(table.dtype(), static_cast<size_t>(hidden));
  const auto* rows = static_cast<const unsigned char*>(table.raw());
  const int32_t* id = ids.data<int32_t>();
  float* out = y.data<float>();
  device.pool.parallel_for(static_cast<size_t>(tokens), [&](size_t i) {
    decode_row(table.dtype(), rows + static_cast<size_t>(id[i]) * stride, out + i * hidden, hidden);
  });
}

}  // namespace rung
