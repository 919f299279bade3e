// Reading GGUF metadata that is wrong: each mistake is one Error that says where, with memory bounded by the
// file.
#include <memory>

#include "model_file/gguf_metadata.h"
#include "testing/catch.h"
#include "tests/error_text.h"
#include "tests/gguf_builder.h"
#include "tests/peak_memory.h"

namespace rung {

using testing::complaint;
using testing::error_of;
using testing::GgufBuilder;

namespace {

constexpr uint64_t kHuge = UINT64_MAX;

// Parses from a buffer of exactly this size, so that AddressSanitizer sees a read past the end.
void parse(std::string_view bytes) {
  const std::unique_ptr<uint8_t[]> exact(new uint8_t[bytes.size()]);
  std::copy(bytes.begin(), bytes.end(), exact.get());
  ByteReader reader(Span<const uint8_t>(exact.get(), bytes.size()), "bad.gguf");
  read_gguf_metadata(reader);
}

std::string error_in(std::string_view bytes) {
  return error_of([&] { parse(bytes); });
}

GgufBuilder every_type() {
  GgufBuilder file;
  file.header(0, 15);
  file.entry<uint8_t>("a", 1).entry<int8_t>("b", 2).entry<uint16_t>("c", 3).entry<int16_t>("d", 4);
  file.entry<uint32_t>("e", 5).entry<int32_t>("f", 6).entry<uint64_t>("g", 7).entry<int64_t>("h", 8);
  file.entry<float>("i", 9).entry<double>("j", 10).entry("k", true).entry("l", "some text");
  file.array("m", GgufType::string, 2).string("one").string("two");
  file.array("n", GgufType::uint16, 3).number<uint16_t>(1).number<uint16_t>(2).number<uint16_t>(3);
  file.array("o", GgufType::array, 1)
      .number(static_cast<uint32_t>(GgufType::boolean))
      .number<uint64_t>(1)
      .fill(1);
  return file;
}

}  // namespace

TEST_CASE("metadata cut off after any byte is an error with the offset") {
  const std::string bytes = every_type().bytes();
  CHECK(error_in(bytes) == "(no error)");
  for (size_t length = 0; length < bytes.size(); ++length) {
    INFO("the first " << length << " of " << bytes.size() << " bytes");
    CHECK(complaint(error_in(std::string_view(bytes).substr(0, length)), {"bad.gguf: offset "}) == "");
  }
}

TEST_CASE("an error in the header names the field") {
  CHECK(complaint(error_in(""), {"offset 0", "ends inside the magic", "expected 4 bytes, found 0"}) == "");
  CHECK(complaint(error_in("GGU"), {"offset 0", "ends inside the magic", "found 3"}) == "");
  CHECK(complaint(error_in(std::string_view("GGUF\3\0", 6)), {"offset 4", "ends inside the version"}) == "");
  CHECK(complaint(error_in(GgufBuilder().raw("GGUF").number<uint32_t>(3).fill(7).bytes()),
                  {"offset 8", "ends inside the tensor count", "expected 8 bytes, found 7"}) == "");
  CHECK(complaint(error_in(GgufBuilder().raw("GGUF").number<uint32_t>(3).fill(15).bytes()),
                  {"offset 16", "ends inside the metadata count"}) == "");
}

TEST_CASE("a file with another magic is not read as GGUF") {
  CHECK(complaint(error_in(GgufBuilder().raw("GGML").fill(60).bytes()),
                  {"offset 0", "magic is \"GGML\"", "expected \"GGUF\""}) == "");
  CHECK(complaint(error_in(GgufBuilder().raw("\x89HD\n").fill(60).bytes()), {"magic is \"\\x89HD\\n\""}) ==
        "");
  CHECK(complaint(error_in(GgufBuilder().fill(64).bytes()), {"magic is \"\\x00\\x00\\x00\\x00\""}) == "");
}

TEST_CASE("other versions are refused by their number, big-endian files by name") {
  for (uint32_t version : {0u, 1u, 4u, 99u, 0xffffffffu}) {
    CHECK(complaint(error_in(GgufBuilder().header(0, 0, version).bytes()),
                    {"offset 4", "version is " + std::to_string(version), "expected 2 or 3"}) == "");
  }
  for (uint32_t swapped : {0x02000000u, 0x03000000u}) {
    CHECK(complaint(error_in(GgufBuilder().header(0, 0, swapped).bytes()),
                    {"offset 4", "version", "big-endian"}) == "");
  }
}

TEST_CASE("a metadata count that the file cannot hold is refused before memory is allocated") {
  for (uint64_t count : {uint64_t{2}, uint64_t{1} << 32, uint64_t{1} << 60, kHuge / 14, kHuge}) {
    const std::string bytes = GgufBuilder().header(0, count).entry<uint8_t>("a", 1).bytes();
    const testing::PeakMemory memory;
    CHECK(complaint(error_in(bytes), {"offset 24", "metadata count is " + std::to_string(count),
                                      "bytes of the file are left"}) == "");
    CHECK(memory.bytes() <= 8 * bytes.size() + (1 << 20));
  }
}

TEST_CASE("string lengths that the file cannot hold are refused") {
  for (uint64_t length : {uint64_t{100}, uint64_t{1} << 40, kHuge - 7, kHuge}) {
    const std::string found = std::to_string(length) + " bytes";
    CHECK(complaint(error_in(GgufBuilder().header(0, 1).number(length).raw("key").fill(20).bytes()),
                    {"offset 24", "key of a metadata entry", found}) == "");
    CHECK(
        complaint(
            error_in(
                GgufBuilder().header(0, 1).key("name", GgufType::string).number(length).raw("text").bytes()),
            {"offset 40", "value of \"name\"", found}) == "");
    CHECK(complaint(
              error_in(GgufBuilder().header(0, 1).array("words", GgufType::string, 1).number(length).bytes()),
              {"offset 53", "array of \"words\"", found}) == "");
  }
}

TEST_CASE("array lengths that the file cannot hold are refused before memory is allocated") {
  const GgufType types[] = {GgufType::uint8,  GgufType::boolean, GgufType::int16, GgufType::float32,
                            GgufType::uint64, GgufType::string,  GgufType::array};
  for (GgufType type : types) {
    for (uint64_t size : {uint64_t{17}, uint64_t{1} << 32, uint64_t{1} << 61, kHuge / 8 + 1, kHuge}) {
      INFO(name(type) << " x " << size);
      const std::string bytes = GgufBuilder().header(0, 1).array("list", type, size).fill(16).bytes();
      const testing::PeakMemory memory;
      CHECK(complaint(error_in(bytes), {"offset 52", "array length of \"list\"", std::to_string(size)}) ==
            "");
      CHECK(memory.bytes() <= 8 * bytes.size() + (1 << 20));
    }
  }
}

TEST_CASE("unknown value types are refused with their number") {
  for (uint32_t type : {13u, 255u, 0xffffffffu}) {
    const std::string number = std::to_string(type);
    CHECK(complaint(
              error_in(GgufBuilder().header(0, 1).key("odd", static_cast<GgufType>(type)).fill(32).bytes()),
              {"offset 35", "value type of \"odd\" is " + number, "expected a value type from 0 to 12"}) ==
          "");
    CHECK(complaint(
              error_in(
                  GgufBuilder().header(0, 1).array("odd", static_cast<GgufType>(type), 1).fill(32).bytes()),
              {"offset 39", "element type of \"odd\" is " + number}) == "");
  }
}

TEST_CASE("a boolean is 0 or 1") {
  CHECK(complaint(error_in(GgufBuilder().header(0, 1).key("flag", GgufType::boolean).raw("\x02").bytes()),
                  {"offset 40", "boolean of \"flag\" is 2", "expected 0 or 1"}) == "");
  CHECK(complaint(
            error_in(GgufBuilder().header(0, 1).array("flags", GgufType::boolean, 2).raw("\x01\xff").bytes()),
            {"offset 54", "boolean of \"flags\" is 255"}) == "");
}

TEST_CASE("keys are not empty, not endless and stand there once") {
  CHECK(complaint(error_in(GgufBuilder().header(0, 1).entry<uint32_t>("", 1).fill(8).bytes()),
                  {"offset 24", "key of metadata entry 0 has 0 bytes", "expected 1 to 65535"}) == "");
  const std::string longest(65535, 'k');
  CHECK(error_in(GgufBuilder().header(0, 1).entry<uint32_t>(longest, 1).bytes()) == "(no error)");
  CHECK(complaint(error_in(GgufBuilder().header(0, 1).entry<uint32_t>(longest + "k", 1).bytes()),
                  {"65536 bytes"}) == "");
  CHECK(complaint(error_in(GgufBuilder()
                               .header(0, 3)
                               .entry<uint8_t>("same", 1)
                               .entry<uint8_t>("other", 1)
                               .entry("same", "x")
                               .bytes()),
                  {"bad.gguf", "entries 0 and 2", "same key \"same\"", "expected each key once"}) == "");
  CHECK(complaint(
            error_in(GgufBuilder().header(0, 2).entry<uint8_t>("a\nb", 1).entry<uint8_t>("a\nb", 1).bytes()),
            {"\"a\\nb\""}) == "");
}

TEST_CASE("arrays may nest eight deep and no deeper, whatever the file says") {
  const auto nested = [](size_t depth) {
    GgufBuilder file;
    file.header(0, 1).key("deep", GgufType::array);
    for (size_t i = 1; i < depth; ++i)
      file.number(static_cast<uint32_t>(GgufType::array)).number<uint64_t>(1);
    return file.number(static_cast<uint32_t>(GgufType::uint8)).number<uint64_t>(1).fill(1).bytes();
  };
  CHECK(error_in(nested(1)) == "(no error)");
  CHECK(error_in(nested(kGgufMaxNesting)) == "(no error)");
  CHECK(complaint(error_in(nested(kGgufMaxNesting + 1)), {"\"deep\"", "nests arrays more than 8 deep"}) ==
        "");
  CHECK(complaint(error_in(nested(100000)), {"offset ", "\"deep\"", "nests arrays more than 8 deep"}) == "");
}

TEST_CASE("memory stays below 8 times the file's size plus 1 MB for the smallest possible entries") {
  constexpr uint32_t kEntries = 200000;
  GgufBuilder entries;
  entries.header(0, kEntries);
  for (uint32_t i = 0; i < kEntries; ++i) {
    const char key[] = {static_cast<char>(i >> 16), static_cast<char>(i >> 8), static_cast<char>(i)};
    entries.key({key, 3}, GgufType::uint8).fill(1);
  }
  GgufBuilder strings;
  strings.header(0, 1).array("empty strings", GgufType::string, 500000).fill(500000 * 8);
  GgufBuilder arrays;  // 12 bytes each: UINT8, length 0
  arrays.header(0, 1).array("empty arrays", GgufType::array, 300000).fill(300000 * 12);
  for (const GgufBuilder* file : {&entries, &strings, &arrays}) {
    const Span<const uint8_t> bytes(reinterpret_cast<const uint8_t*>(file->bytes().data()), file->size());
    const testing::PeakMemory memory;
    ByteReader reader(bytes, "small.gguf");
    const GgufMetadata metadata = read_gguf_metadata(reader);
    if (metadata.has("empty strings")) CHECK(metadata.get_strings("empty strings").size() == 500000);
    CHECK(reader.remaining() == 0);
    CHECK(memory.bytes() <= 8 * file->size() + (1 << 20));
  }
}

}  // namespace rung
