// Reading the tensor directory and the tensors of GGUF files that are right.
#include "model_file/gguf_file.h"

#include "testing/catch.h"
#include "testing/compare.h"
#include "testing/fixture.h"
#include "tests/error_text.h"
#include "tests/gguf_builder.h"

namespace rung {

using testing::complaint;
using testing::error_of;
using testing::GgufBuilder;

namespace {

constexpr uint32_t kF32 = 0, kQ2K = 10, kI8 = 24;

// A [2, 3] matrix of 1 to 6, and a vector of two that stands before it in the file but after it in the
// directory.
std::string two_tensors(uint64_t alignment) {
  GgufBuilder file;
  file.header(2, 1).entry("general.alignment", static_cast<uint32_t>(alignment));
  file.tensor("matrix", {3, 2}, kF32, alignment).tensor("vector", {2}, kF32, 0).align(alignment);
  file.number(-1.0f).number(-2.0f).align(alignment);
  for (int i = 1; i <= 6; ++i) file.number(static_cast<float>(i));
  return file.bytes();
}

}  // namespace

TEST_CASE("tensors are found by name, with dimensions outermost first") {
  for (uint64_t alignment : {8, 32, 4096}) {
    INFO("alignment " << alignment);
    const testing::TemporaryFolder folder;
    const auto file = GgufFile::open(folder.write("m.gguf", two_tensors(alignment)));
    CHECK(file->alignment() == alignment);
    CHECK(file->data_offset() % alignment == 0);
    REQUIRE(file->tensors().size() == 2);
    CHECK(file->tensors()[0].name == "matrix");
    CHECK(file->tensors()[0].dims_text() == "[3, 2]");
    CHECK(file->tensors()[0].position == file->data_offset() + alignment);
    CHECK(file->tensors()[0].bytes == 24);
    const Tensor* matrix = file->find("matrix");
    REQUIRE(matrix != nullptr);
    CHECK(matrix->shape() == Shape{2, 3});
    const float expected[] = {1, 2, 3, 4, 5, 6};
    CHECK(testing::compare_bits({matrix->data<float>(), 6}, expected) == "");
    CHECK(file->find("vector")->data<float>()[1] == -2);
    CHECK(file->find("none") == nullptr);
  }
}

TEST_CASE("alignment is 32 unless the file says otherwise, and padding is left out of the data") {
  const testing::TemporaryFolder folder;
  GgufBuilder builder;
  builder.header(1, 0).tensor("a", {4}, kF32, 0).align(32).fill(16);
  const auto file = GgufFile::open(folder.write("m.gguf", builder.bytes()));
  CHECK(file->alignment() == 32);
  CHECK(file->data_offset() == 64);  // 24 bytes of header and 33 of directory, rounded up
}

TEST_CASE("a tensor keeps the file mapped after the file object is gone") {
  const testing::TemporaryFolder folder;
  Tensor kept;
  {
    const auto file = GgufFile::open(folder.write("m.gguf", two_tensors(32)));
    kept = file->find("matrix")->slice(1, 1);
  }
  CHECK(kept.data<float>()[2] == 6);
}

TEST_CASE("types that Rung does not decode are listed, and only reading them is an error") {
  const testing::TemporaryFolder folder;
  GgufBuilder builder;
  builder.header(3, 0)
      .tensor("packed", {256, 2}, kQ2K, 0)
      .tensor("bytes", {5}, kI8, 192)
      .tensor("plain", {1}, kF32, 224);
  builder.align().fill(192 + 32).number(2.5f);
  const auto file = GgufFile::open(folder.write("m.gguf", builder.bytes()));
  CHECK(file->tensors()[0].bytes == 168);
  CHECK(file->tensors()[1].type->name == std::string("I8"));
  CHECK(file->entry("packed")->shape == Shape{2, 256});
  CHECK(file->find("plain")->data<float>()[0] == 2.5f);
  CHECK(complaint(error_of([&] { file->find("packed"); }), {"m.gguf", "\"packed\"", "Q2_K", "Q4_K"}) == "");
  CHECK(complaint(error_of([&] { file->find("bytes"); }), {"\"bytes\"", "I8"}) == "");
}

TEST_CASE("a file without tensors may end right behind its metadata") {
  const testing::TemporaryFolder folder;
  const auto file =
      GgufFile::open(folder.write("m.gguf", GgufBuilder().header(0, 1).entry("a", "b").bytes()));
  CHECK(file->tensors().empty());
  CHECK(file->metadata().get_string("a") == "b");
}

TEST_CASE("a tensor with four dimensions is read, and so is one of a single element") {
  const testing::TemporaryFolder folder;
  GgufBuilder builder;
  builder.header(2, 0)
      .tensor("four", {2, 3, 1, 2}, kF32, 0)
      .tensor("one", {1}, kF32, 64)
      .align()
      .fill(48)
      .align()
      .fill(4);
  const auto file = GgufFile::open(folder.write("m.gguf", builder.bytes()));
  CHECK(file->find("four")->shape() == Shape{2, 1, 3, 2});
  CHECK(file->find("one")->elements() == 1);
}

TEST_CASE("the default model's directory is what the gguf package reads") {
  const std::string path = testing::default_model_path();
  if (path.empty()) {
    WARN("the default model has not been downloaded");
    return;
  }
  const auto file = GgufFile::open(path);
  CHECK(file->tensors().size() == 272);
  CHECK(file->alignment() == 32);
  CHECK(file->data_offset() == 1785664);
  const GgufTensor* down = file->entry("blk.0.ffn_down.weight");
  REQUIRE(down != nullptr);
  CHECK(down->offset == 30083328);
  CHECK(down->dims_text() == "[1536, 576]");
  CHECK(file->find("token_embd.weight")->shape() == Shape{49152, 576});
  CHECK(file->find("output_norm.weight")->dtype() == DType::f32);
}

}  // namespace rung
