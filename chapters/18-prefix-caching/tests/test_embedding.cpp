// The embedding on both devices, against values that others decoded.
#include <cstring>
#include <functional>

#include "ops/embedding.h"
#include "ops/embedding_kernels.h"
#include "rung/error.h"
#include "tensor/float16.h"
#include "testing/catch.h"
#include "testing/fixture.h"
#include "tests/devices.h"

using namespace rung;
using namespace rung::testing;

namespace {

// Runs an embedding on CUDA and returns y.
using CudaEmbedding = void (*)(Cuda&, Tensor&, const Tensor&, const Tensor&);
Tensor run(CudaEmbedding function, const Tensor& table, const Tensor& ids) {
  Cuda& device = the_device<Cuda>();
  GuardedOutput<Cuda> y(device, {ids.elements(), table.shape().columns()});
  function(device, y.tensor, upload(device, table), upload(device, ids));
  return y.values();
}
Tensor run_on_cpu(const Tensor& table, const Tensor& ids) {
  Cpu& device = the_device<Cpu>();
  GuardedOutput<Cpu> y(device, {ids.elements(), table.shape().columns()});
  embedding(device, y.tensor, table, ids);
  return y.values();
}

// What every version must give: rows of `decoded` by id, bit for bit.
void check_all(const Tensor& table, const Tensor& ids, const std::vector<float>& decoded) {
  const int64_t hidden = table.shape().columns();
  std::vector<float> expected;
  for (int64_t i = 0; i < ids.elements(); ++i) {
    const float* row = decoded.data() + ids.data<int32_t>()[i] * hidden;
    expected.insert(expected.end(), row, row + hidden);
  }
  INFO("table " << table.shape().text() << " of " << name(table.dtype()) << ", " << ids.elements() << " ids");
  CHECK(compare_bits(floats(run_on_cpu(table, ids)), expected) == "");
  CHECK(compare_bits(floats(run(embedding_one_element, table, ids)), expected) == "");
  if (hidden % 4 == 0) CHECK(compare_bits(floats(run(embedding_four_elements, table, ids)), expected) == "");
  CHECK(compare_bits(floats(run(embedding, table, ids)), expected) == "");
}

// One kernel by itself, on tables of these widths and of every plain type.
void check_kernel(CudaEmbedding kernel, std::initializer_list<int64_t> widths) {
  for (const int64_t hidden : widths) {
    for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
      Tensor table = Tensor::host(dtype, {13, hidden});
      for (int64_t i = 0; i < table.elements(); ++i) {
        const float value = static_cast<float>(i % 251) - 125;  // every type holds these whole numbers
        if (dtype == DType::f32) table.data<float>()[i] = value;
        if (dtype == DType::f16) table.data<f16_t>()[i].bits = f32_to_f16(value);
        if (dtype == DType::bf16) table.data<bf16_t>()[i].bits = f32_to_bf16(value);
      }
      const std::vector<int32_t> ids = {12, 0, 7, 7, 1};
      std::vector<float> expected;
      for (const int32_t id : ids) {
        for (int64_t column = 0; column < hidden; ++column) {
          expected.push_back(static_cast<float>((id * hidden + column) % 251) - 125);
        }
      }
      INFO("table [13, " << hidden << "] of " << name(dtype) << ", 5 ids");
      CHECK(compare_bits(floats(run(kernel, table, tensor_of(ids))), expected) == "");
    }
  }
}

Tensor table_of_bytes(DType dtype, const std::string& bytes, int64_t hidden) {
  const int64_t rows = static_cast<int64_t>(bytes.size() / row_bytes(dtype, static_cast<size_t>(hidden)));
  Tensor table = Tensor::host(dtype, {rows, hidden});
  std::memcpy(table.raw(), bytes.data(), table.bytes());
  return table;
}

}  // namespace

TEST_CASE("embedding of block-quantized rows equals the gguf package's dequantizers bit for bit") {
  const DType dtype = GENERATE(DType::q4_0, DType::q4_1, DType::q5_0, DType::q5_1, DType::q8_0, DType::q4_k,
                               DType::q5_k, DType::q6_k);
  const std::string file = std::string("quant/") + name(dtype);
  const std::string bytes = read_file(fixture_path(file + ".bin"));
  const std::vector<float> decoded = read_floats(fixture_path(file + ".f32"));
  const int64_t block = static_cast<int64_t>(info(dtype).block_elements);
  for (const int64_t blocks_per_row : {1, 3}) {
    const Tensor table = table_of_bytes(dtype, bytes, blocks_per_row * block);
    const int32_t rows = static_cast<int32_t>(table.shape().rows());
    REQUIRE(rows >= 4);
    std::vector<int32_t> ids = {rows - 1, 0, 0, 1};
    for (int32_t row = 0; row < rows; ++row) ids.push_back(row);
    check_all(table, tensor_of(ids), decoded);
  }
}

TEST_CASE("embedding of f16 rows is right for all 65,536 patterns that are numbers") {
  const std::vector<float> decoded = read_floats(fixture_path("half/f16_to_f32.f32"));
  REQUIRE(decoded.size() == 65536);
  // Rows of 128; exponent 31 is infinity and NaN, in rows 248 to 255 and 504 to 511.
  Tensor table = Tensor::host(DType::f16, {512, 128});
  for (int32_t i = 0; i < 65536; ++i) table.data<f16_t>()[i].bits = static_cast<uint16_t>(i);
  std::vector<int32_t> ids;
  for (int32_t row = 0; row < 512; ++row) {
    if (row % 256 < 248) ids.push_back(row);
  }
  check_all(table, tensor_of(ids), decoded);
}

TEST_CASE("embedding of bf16 rows is the upper half of a float32") {
  Tensor table = Tensor::host(DType::bf16, {256, 256});
  std::vector<float> decoded(65536);
  std::vector<int32_t> ids;
  for (uint32_t i = 0; i < 65536; ++i) {
    table.data<bf16_t>()[i].bits = static_cast<uint16_t>(i);
    const uint32_t bits = i << 16;
    std::memcpy(&decoded[i], &bits, sizeof bits);
  }
  for (int32_t row = 0; row < 256; ++row) {
    if (row % 128 != 127) ids.push_back(row);  // 0x7f80 to 0x7fff and 0xff80 to 0xffff: infinity and NaN
  }
  check_all(table, tensor_of(ids), decoded);
}

TEST_CASE("embedding works for a single element, primes, and a tile more or less one") {
  const int64_t hidden = GENERATE(1, 3, 4, 31, 251, 255, 256, 257, 1020, 1028);
  const int64_t tokens = GENERATE(1, 2, 7);
  const Tensor table = random_tensor({13, hidden}, 5);
  const Tensor ids = tensor_of(random_ints(static_cast<size_t>(tokens), 6, 13));
  const Span<const float> values = floats(table);
  check_all(table, ids, {values.begin(), values.end()});
}

TEST_CASE("the kernel with one thread an element is right for widths around a block") {
  check_kernel(embedding_one_element, {1, 3, 4, 31, 51, 52, 251, 257});
}

TEST_CASE("the kernel with four elements a thread is right for widths around a block") {
  check_kernel(embedding_four_elements, {4, 28, 204, 208, 1020, 1028});
}

TEST_CASE("embedding of no tokens does nothing") {
  check_all(random_tensor({3, 8}, 1), tensor_of(std::vector<int32_t>{}), std::vector<float>(24));
}

TEST_CASE("embedding reads rows that are not aligned for four elements one by one") {
  Cuda& device = the_device<Cuda>();
  const Tensor values = random_tensor({41}, 3);
  const Tensor table = upload(device, values).slice(1, 40).reshaped({5, 8});
  GuardedOutput<Cuda> y(device, {2, 8});
  CHECK_FALSE(embedding_can_vectorise(y.tensor, table));
  embedding(device, y.tensor, table, upload(device, tensor_of({4, 1})));
  std::vector<float> expected(values.data<float>() + 33, values.data<float>() + 41);
  expected.insert(expected.end(), values.data<float>() + 9, values.data<float>() + 17);
  CHECK(compare_bits(floats(y.values()), expected) == "");
  CHECK_THROWS_WITH(embedding_four_elements(device, y.tensor, table, upload(device, tensor_of({4, 1}))),
                    Catch::Contains("four at a time"));
}

TEST_CASE("embedding does not depend on the number of threads") {
  const Tensor table = random_tensor({50, 64}, 8);
  const Tensor ids = tensor_of(random_ints(33, 9, 50));
  const Tensor expected = run_on_cpu(table, ids);
  for (const int threads : {1, 2, 3, 7}) {
    Cpu device(threads);
    Tensor y = empty(device, DType::f32, {33, 64});
    embedding(device, y, table, ids);
    CHECK(compare_bits(floats(y), floats(expected)) == "");
  }
}

TEST_CASE("token ids outside the vocabulary are refused by index and value") {
  CHECK_NOTHROW(check_token_ids(tensor_of({0, 511, 3}), 512));
  CHECK_THROWS_WITH(check_token_ids(tensor_of({0, 512, -1}), 512),
                    "token 1 has id 512, expected 0 to 511 (the vocabulary has 512 tokens)");
  CHECK_THROWS_WITH(check_token_ids(tensor_of({-1}), 512),
                    "token 0 has id -1, expected 0 to 511 (the vocabulary has 512 tokens)");
  CHECK_THROWS_AS(check_token_ids(tensor_of({0, INT32_MAX}), 512), Error);
  CHECK_THROWS_AS(check_token_ids(tensor_of({INT32_MIN}), 512), Error);
  Tensor y = Tensor::host(DType::f32, {1, 4});
  CHECK_THROWS_AS(embedding(the_device<Cpu>(), y, random_tensor({3, 4}, 1), tensor_of({3})), Error);
}

TEMPLATE_TEST_CASE("embedding refuses operands of another shape or type", "", Cpu, Cuda) {
  TestType& device = the_device<TestType>();
  const Tensor table = upload(device, random_tensor({3, 4}, 1)), ids = upload(device, tensor_of({0, 1}));
  Tensor wrong_rows = empty(device, DType::f32, {3, 4}), wrong_type = empty(device, DType::f16, {2, 4}),
         right = empty(device, DType::f32, {2, 4});
  CHECK_THROWS_WITH(embedding(device, wrong_rows, table, ids),
                    "embedding: y has shape [3, 4], expected [2, 4]");
  CHECK_THROWS_WITH(embedding(device, wrong_type, table, ids), "embedding: y is stored as F16, expected F32");
  CHECK_THROWS_WITH(embedding(device, right, table, table.slice(0, 1).reshaped({4})),
                    "embedding: ids is stored as F32, expected I32");
}

TEST_CASE("embedding on CUDA refuses host memory") {
  Cuda& device = the_device<Cuda>();
  Tensor y = empty(device, DType::f32, {1, 4});
  CHECK_THROWS_WITH(embedding(device, y, random_tensor({3, 4}, 1), upload(device, tensor_of({0}))),
                    "embedding: table lies on the host, expected on the device");
}
