// Tensor directories that are wrong: each mistake is one Error that names the tensor or field, before memory
// is taken.
#include <memory>

#include "model_file/gguf_directory.h"
#include "testing/catch.h"
#include "tests/error_text.h"
#include "tests/gguf_builder.h"
#include "tests/peak_memory.h"

namespace rung {

using testing::complaint;
using testing::error_of;
using testing::GgufBuilder;

namespace {

constexpr uint32_t kF32 = 0, kQ4_0 = 2, kQ6_K = 14, kI8 = 24, kI64 = 27;
constexpr uint64_t kHuge = UINT64_MAX;

// From a buffer of exactly this size, so that AddressSanitizer sees a read past the end.
void parse(std::string_view bytes) {
  const std::unique_ptr<uint8_t[]> exact(new uint8_t[bytes.size()]);
  std::copy(bytes.begin(), bytes.end(), exact.get());
  ByteReader reader(Span<const uint8_t>(exact.get(), bytes.size()), "bad.gguf");
  const GgufMetadata metadata = read_gguf_metadata(reader);
  read_gguf_directory(reader, metadata);
}

std::string error_in(std::string_view bytes) {
  return error_of([&] { parse(bytes); });
}

// A file with one tensor "t" and `data` zero bytes behind the directory.
std::string one_tensor(const std::vector<uint64_t>& dims, uint32_t type, uint64_t offset, size_t data) {
  return GgufBuilder().header(1, 0).tensor("t", dims, type, offset).align().fill(data).bytes();
}

template <class T>
std::string aligned_by(T value) {
  return GgufBuilder()
      .header(1, 1)
      .entry("general.alignment", value)
      .tensor("t", {1}, kF32, 0)
      .align(64)
      .fill(64)
      .bytes();
}

}  // namespace

TEST_CASE("a file cut off after any byte is an error, up to its last byte of data") {
  GgufBuilder builder;
  builder.header(3, 1).entry("general.name", "x").tensor("a", {4, 2}, kF32, 0).tensor("b", {32}, kQ4_0, 32);
  builder.tensor("c", {3}, kI8, 64).align().fill(64 + 3, 1);
  const std::string bytes = builder.bytes();
  CHECK(error_in(bytes) == "(no error)");
  for (size_t length = 0; length < bytes.size(); ++length) {
    INFO("the first " << length << " of " << bytes.size() << " bytes");
    CHECK(complaint(error_in(std::string_view(bytes).substr(0, length)), {"bad.gguf: "}) == "");
  }
}

TEST_CASE("an error in the directory names the field and its tensor") {
  // Long enough for the count's own check, so that the entry itself is seen to end.
  const std::string longer = GgufBuilder().header(1, 0).tensor("a rather long name", {4, 4}, kF32, 0).bytes();
  CHECK(complaint(error_in(std::string_view(longer).substr(0, longer.size() - 1)),
                  {"offset of \"a rather long name\""}) == "");
  CHECK(complaint(error_in(std::string_view(longer).substr(0, longer.size() - 9)),
                  {"type of \"a rather long name\""}) == "");
  CHECK(complaint(error_in(std::string_view(longer).substr(0, longer.size() - 13)),
                  {"dimensions of \"a rather long name\""}) == "");
  const std::string text = "a name that is longer than the smallest entry";
  const std::string early =
      GgufBuilder().header(1, 0).tensor(text, {4}, kF32, 0).bytes().substr(0, 24 + 8 + text.size() + 2);
  CHECK(complaint(error_in(early), {"offset 77", "number of dimensions of \"" + text}) == "");
  CHECK(complaint(error_in(std::string_view(early).substr(0, 70)), {"offset 24", "name of a tensor"}) == "");
}

TEST_CASE("a tensor count that the file cannot hold is refused before memory is allocated") {
  for (uint64_t count : {uint64_t{3}, uint64_t{1} << 33, kHuge / 32, kHuge}) {
    const std::string bytes =
        GgufBuilder().header(count, 0).tensor("t", {1}, kF32, 0).align().fill(4).bytes();
    const testing::PeakMemory memory;
    CHECK(complaint(error_in(bytes), {"offset 24", "tensor count is " + std::to_string(count)}) == "");
    CHECK(memory.bytes() <= 8 * bytes.size() + (1 << 20));
  }
}

TEST_CASE("an alignment is a power of two of at least 8, stored as UINT32") {
  for (uint32_t alignment : {8u, 16u, 32u, 64u}) CHECK(error_in(aligned_by(alignment)) == "(no error)");
  for (uint32_t alignment : {0u, 1u, 3u, 4u, 24u, 33u, 0xffffffffu}) {
    CHECK(complaint(error_in(aligned_by(alignment)),
                    {"\"general.alignment\" is " + std::to_string(alignment), "power of two"}) == "");
  }
  CHECK(complaint(error_in(aligned_by(32.0f)), {"\"general.alignment\" is FLOAT32", "expected a UINT32"}) ==
        "");
  CHECK(complaint(error_in(aligned_by(uint64_t{32})),
                  {"\"general.alignment\" is UINT64", "expected a UINT32"}) == "");
  CHECK(complaint(error_in(aligned_by("32")), {"\"general.alignment\" is STRING", "expected a UINT32"}) ==
        "");
  // A valid one that is larger than the file.
  CHECK(complaint(error_in(aligned_by(0x80000000u)), {"\"t\"", "starts at 2147483648"}) == "");
}

TEST_CASE("a tensor has 1 to 4 dimensions, each of at least 1") {
  CHECK(complaint(error_in(one_tensor({}, kF32, 0, 64)), {"offset 33", "\"t\" has 0 dimensions", "1 to 4"}) ==
        "");
  CHECK(complaint(error_in(one_tensor({1, 1, 1, 1, 1}, kF32, 0, 64)), {"\"t\" has 5 dimensions", "1 to 4"}) ==
        "");
  const std::string many =
      GgufBuilder().header(1, 0).string("t").number<uint32_t>(0xffffffff).fill(64).bytes();
  CHECK(complaint(error_in(many), {"4294967295 dimensions"}) == "");
  CHECK(complaint(error_in(one_tensor({0}, kF32, 0, 64)),
                  {"offset 37", "\"t\"", "dimension 0 is 0", "at least 1"}) == "");
  CHECK(complaint(error_in(one_tensor({4, 0}, kF32, 0, 64)), {"offset 45", "dimension 1 is 0"}) == "");
}

TEST_CASE("products of dimensions and sizes in bytes may not overflow") {
  const uint64_t big = uint64_t{1} << 32;
  CHECK(complaint(error_in(one_tensor({big, big}, kF32, 0, 64)), {"\"t\"", "dimension 1", "2^63"}) == "");
  CHECK(complaint(error_in(one_tensor({big, big, big, big}, kF32, 0, 64)), {"\"t\"", "2^63"}) == "");
  CHECK(complaint(error_in(one_tensor({kHuge}, kF32, 0, 64)), {"dimension 0 is 18446744073709551615"}) == "");
  CHECK(complaint(error_in(one_tensor({uint64_t{1} << 63}, kI8, 0, 64)),
                  {"dimension 0 is 9223372036854775808"}) == "");
  // 2^62 elements exist as a number, their 2^65 bytes do not; with one byte each they do, and are not in the
  // file.
  CHECK(complaint(error_in(one_tensor({big, uint64_t{1} << 30}, kI64, 0, 64)),
                  {"\"t\"", "more than 2^64 bytes"}) == "");
  CHECK(complaint(error_in(one_tensor({big, uint64_t{1} << 30}, kI8, 0, 64)),
                  {"\"t\"", "4611686018427387904 bytes", "has only 160 bytes"}) == "");
}

TEST_CASE("offsets that overflow, point outside the file or are not aligned are refused") {
  CHECK(complaint(error_in(one_tensor({4}, kF32, kHuge - 31, 64)),
                  {"\"t\"", "18446744073709551584", "has only 128 bytes"}) == "");
  CHECK(complaint(error_in(one_tensor({4}, kF32, uint64_t{1} << 63, 64)), {"\"t\"", "has only 128 bytes"}) ==
        "");
  CHECK(complaint(error_in(one_tensor({4}, kF32, 64, 64)),
                  {"\"t\"", "has 16 bytes at offset 64", "starts at 64", "has only 128 bytes"}) == "");
  CHECK(complaint(error_in(one_tensor({4}, kF32, 4, 64)),
                  {"\"t\"", "offset 4", "multiple of the alignment 32"}) == "");
  CHECK(complaint(error_in(one_tensor({4}, kF32, 0, 15)), {"\"t\"", "has 16 bytes", "cut off"}) == "");
  CHECK(error_in(one_tensor({4}, kF32, 32, 48)) == "(no error)");
}

TEST_CASE("rows are whole blocks") {
  CHECK(complaint(error_in(one_tensor({33}, kQ4_0, 0, 64)),
                  {"offset 33", "\"t\"", "rows of 33", "multiple of 32", "Q4_0"}) == "");
  // 64 elements in all are two blocks, but a block may not span two rows.
  CHECK(complaint(error_in(one_tensor({16, 4}, kQ4_0, 0, 64)), {"\"t\"", "rows of 16", "multiple of 32"}) ==
        "");
  CHECK(complaint(error_in(one_tensor({32, 8}, kQ6_K, 0, 512)),
                  {"\"t\"", "rows of 32", "multiple of 256", "Q6_K"}) == "");
}

TEST_CASE("types that ggml does not have are refused with their number") {
  for (uint32_t type : {4u, 5u, 31u, 36u, 42u, 1000u, 0xffffffffu}) {
    CHECK(complaint(error_in(one_tensor({32}, type, 0, 64)),
                    {"offset 45", "\"t\"", "unknown type " + std::to_string(type)}) == "");
  }
}

TEST_CASE("two tensors may not have one name or share bytes") {
  GgufBuilder twice;
  twice.header(3, 0)
      .tensor("same", {4}, kF32, 0)
      .tensor("other", {4}, kF32, 32)
      .tensor("same", {4}, kF32, 64);
  CHECK(complaint(error_in(twice.align().fill(96).bytes()),
                  {"bad.gguf", "tensors 0 and 2", "same name \"same\""}) == "");

  for (uint64_t second : {0, 32}) {
    GgufBuilder overlap;
    overlap.header(2, 0).tensor("late", {4}, kF32, second).tensor("early", {12}, kF32, 0).align().fill(96);
    CHECK(complaint(error_in(overlap.bytes()), {"bad.gguf", "\"early\"", "\"late\"", "overlap"}) == "");
  }
  GgufBuilder one_byte;
  one_byte.header(2, 0).tensor("early", {33}, kI8, 0).tensor("late", {4}, kF32, 32).align().fill(48);
  CHECK(complaint(error_in(one_byte.bytes()), {"\"early\" and \"late\" overlap"}) == "");
  GgufBuilder beside;
  beside.header(2, 0).tensor("late", {4}, kF32, 32).tensor("early", {8}, kF32, 0).align().fill(48);
  CHECK(error_in(beside.bytes()) == "(no error)");
}

TEST_CASE("memory stays below 8 times the file's size plus 1 MB for the smallest possible tensors") {
  constexpr uint32_t kTensors = 50000;
  GgufBuilder builder;
  builder.header(kTensors, 1).entry<uint32_t>("general.alignment", 8);
  for (uint32_t i = 0; i < kTensors; ++i) {
    const char name[] = {static_cast<char>(i >> 8), static_cast<char>(i)};
    builder.tensor({name, 2}, {1}, kI8, i * 8);
  }
  builder.align(8).fill(kTensors * 8);
  const Span<const uint8_t> bytes(reinterpret_cast<const uint8_t*>(builder.bytes().data()), builder.size());
  const testing::PeakMemory memory;
  ByteReader reader(bytes, "small.gguf");
  const GgufMetadata metadata = read_gguf_metadata(reader);
  CHECK(read_gguf_directory(reader, metadata).tensors.size() == kTensors);
  CHECK(memory.bytes() <= 8 * builder.size() + (1 << 20));
}

}  // namespace rung
