// New keys and values reach the slots that they are sent to, and no other.
#include "ops/store_kv.h"

#include "rung/error.h"
#include "tensor/float16.h"
#include "testing/catch.h"
#include "tests/devices.h"

using namespace rung;
using namespace rung::testing;

namespace {

// Element i of a plain tensor as float32.
float element(const Tensor& tensor, int64_t i) {
  if (tensor.dtype() == DType::f32) return tensor.data<float>()[i];
  const uint16_t bits = static_cast<const uint16_t*>(tensor.raw())[i];
  return tensor.dtype() == DType::f16 ? f16_to_f32(bits) : bf16_to_f32(bits);
}

float rounded(float value, DType dtype) {
  return dtype == DType::f32   ? value
         : dtype == DType::f16 ? f16_to_f32(f32_to_f16(value))
                               : bf16_to_f32(f32_to_bf16(value));
}

}  // namespace

TEMPLATE_TEST_CASE("store_kv: each token to its slot, rounded, padding nowhere", "", Cpu, Cuda) {
  TestType& device = the_device<TestType>();
  const std::vector<std::vector<int32_t>> mappings = {
      {0}, {-1}, {4, -1, 0, 6}, {2, 3, 4, 5, 6}, {6, 5, -1, -1, 1, 0, 3}};
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    for (const int64_t head_dim : {1, 37, 64, 129}) {  // 129 * 2 is more than a block of threads
      for (const std::vector<int32_t>& mapping : mappings) {
        const auto tokens = static_cast<int64_t>(mapping.size());
        const Tensor k = random_tensor({tokens, 2 * head_dim}, 1),
                     v = random_tensor({tokens, 2 * head_dim}, 2);
        // Seven slots, and a row before them where nobody may write: -1 is no slot.
        const Tensor blank = Tensor::host(dtype, {8, 2, head_dim});
        Tensor all_keys = empty(device, dtype, blank.shape()),
               all_values = empty(device, dtype, blank.shape());
        copy(device, all_keys, blank);
        copy(device, all_values, blank);
        Tensor keys = all_keys.slice(1, 7), values = all_values.slice(1, 7);
        store_kv(device, keys, values, upload(device, k), upload(device, v),
                 upload(device, tensor_of(mapping)));
        const Tensor got_keys = download(device, all_keys), got_values = download(device, all_values);
        for (int64_t slot = -1; slot < 7; ++slot) {
          const auto found = std::find(mapping.begin(), mapping.end(), slot);
          for (int64_t i = 0; i < 2 * head_dim; ++i) {
            const int64_t from = (found - mapping.begin()) * 2 * head_dim + i,
                          to = (slot + 1) * 2 * head_dim + i;
            const bool stored = slot >= 0 && found != mapping.end();
            INFO(name(dtype) << ", head_dim " << head_dim << ", slot " << slot << ", element " << i);
            REQUIRE(element(got_keys, to) == (stored ? rounded(k.data<float>()[from], dtype) : 0));
            REQUIRE(element(got_values, to) == (stored ? rounded(v.data<float>()[from], dtype) : 0));
          }
        }
      }
    }
  }
}

TEST_CASE("store_kv: what does not fit is refused") {
  Cpu cpu(1);
  Tensor keys = Tensor::host(DType::f32, {3, 2, 4}), values = Tensor::host(DType::f32, {3, 2, 4});
  const Tensor rows = random_tensor({2, 8}, 1);
  CHECK_NOTHROW(store_kv(cpu, keys, values, rows, rows, tensor_of(std::vector<int32_t>{2, 0})));
  CHECK_THROWS_WITH(store_kv(cpu, keys, values, rows, rows, tensor_of(std::vector<int32_t>{2, 3})),
                    Catch::Contains("token 1") && Catch::Contains("slot 3 of 3"));
  CHECK_THROWS_WITH(store_kv(cpu, keys, values, rows, rows, tensor_of(std::vector<int32_t>{-2, 0})),
                    Catch::Contains("slot -2"));
  CHECK_THROWS_WITH(store_kv(cpu, keys, values, rows, rows, tensor_of(std::vector<int32_t>{2})),
                    Catch::Contains("store_kv: k"));
  Tensor quantized = Tensor::host(DType::q8_0, {3, 1, 32});
  CHECK_THROWS_WITH(store_kv(cpu, quantized, quantized, rows, rows, tensor_of(std::vector<int32_t>{2, 0})),
                    Catch::Contains("Q8_0"));
}
