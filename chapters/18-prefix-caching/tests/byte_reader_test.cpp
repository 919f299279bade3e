// The cursor over a file's bytes: what it reads, and that it never reads more than there is.
#include "model_file/byte_reader.h"

#include "model_file/gguf_metadata.h"
#include "testing/catch.h"
#include "tests/error_text.h"
#include "tests/gguf_builder.h"

namespace rung {

using testing::complaint;
using testing::error_of;
using testing::GgufBuilder;

namespace {

ByteReader reader_of(const GgufBuilder& file) {
  return ByteReader({reinterpret_cast<const uint8_t*>(file.bytes().data()), file.size()}, "x.gguf");
}

}  // namespace

TEST_CASE("the cursor counts the bytes that it has read and those that remain") {
  const GgufBuilder file = GgufBuilder().number<uint32_t>(7).number<uint8_t>(8);
  ByteReader reader = reader_of(file);
  CHECK(reader.remaining() == 5);
  CHECK(reader.read<uint32_t>("first") == 7);
  CHECK(reader.offset() == 4);
  CHECK(reader.take(1, "second")[0] == 8);
  CHECK(reader.remaining() == 0);
  CHECK(reader.take(0, "nothing").empty());
  CHECK(complaint(error_of([&] {
                    reader.read<uint8_t>({"third", "the key"});
                  }),
                  {"x.gguf: offset 5", "the third of \"the key\"", "expected 1 bytes, found 0"}) == "");
}

TEST_CASE("a read that does not fit leaves the cursor where it was") {
  const GgufBuilder file = GgufBuilder().raw("abc");
  ByteReader reader = reader_of(file);
  CHECK(complaint(error_of([&] { reader.read<uint32_t>("number"); }), {"offset 0", "found 3"}) == "");
  CHECK(complaint(error_of([&] { reader.take(UINT64_MAX, "all"); }),
                  {"expected 18446744073709551615 bytes"}) == "");
  CHECK(reader.read<uint8_t>("a") == 'a');
}

TEST_CASE("a string is its length and that many bytes, seen in place") {
  const GgufBuilder file = GgufBuilder().string("general.name").string("").string("x");
  ByteReader reader = reader_of(file);
  const std::string_view first = reader.read_string("key");
  CHECK(first == "general.name");
  CHECK(first.data() == file.bytes().data() + 8);
  CHECK(reader.read_string("key").empty());
  CHECK(reader.read_string("key") == "x");
  CHECK(reader.remaining() == 0);
}

TEST_CASE("a string longer than the rest of the file is refused") {
  for (uint64_t length : {uint64_t{4}, uint64_t{1} << 32, UINT64_MAX - 7, UINT64_MAX}) {
    const GgufBuilder file = GgufBuilder().number(length).raw("abc");
    ByteReader reader = reader_of(file);
    CHECK(complaint(error_of([&] {
                      reader.read_string({"value", "name"});
                    }),
                    {"x.gguf: offset 0", "the value of \"name\"", std::to_string(length) + " bytes",
                     "only 3 bytes"}) == "");
  }
  const GgufBuilder cut = GgufBuilder().fill(7);
  CHECK(complaint(error_of([&] { reader_of(cut).read_string("key"); }),
                  {"offset 0", "ends inside the key"}) == "");
}

TEST_CASE("a count is held against the bytes that remain") {
  const GgufBuilder file = GgufBuilder().fill(100);
  const ByteReader reader = reader_of(file);
  CHECK(error_of([&] { reader.check_count(0, 8, "count"); }) == "(no error)");
  CHECK(error_of([&] { reader.check_count(12, 8, "count"); }) == "(no error)");
  CHECK(error_of([&] { reader.check_count(100, 1, "count"); }) == "(no error)");
  // The last two times 8 is 8 and 0 in 64 bits.
  for (uint64_t count : {uint64_t{13}, uint64_t{1} << 40, (uint64_t{1} << 61) + 1, uint64_t{1} << 61}) {
    CHECK(complaint(error_of([&] { reader.check_count(count, 8, "count"); }),
                    {"x.gguf: offset 0", "the count is " + std::to_string(count), "only 100 bytes"}) == "");
  }
}

TEST_CASE("stored integers convert to every type that holds their value and to no other") {
  const GgufMetadata metadata("x.gguf", {},
                              {{"u8", uint8_t{200}},
                               {"i8", int8_t{-3}},
                               {"u16", uint16_t{65535}},
                               {"i32", int32_t{-70000}},
                               {"i64", int64_t{-1}},
                               {"u64", UINT64_MAX},
                               {"f32", 3.0f},
                               {"bool", true}});
  CHECK(metadata.get_u32("u8") == 200);
  CHECK(metadata.get_i64("i8") == -3);
  CHECK(metadata.get_i32("u16") == 65535);
  CHECK(metadata.get_i64("i32") == -70000);
  CHECK(metadata.get_i32("i64") == -1);
  CHECK(metadata.get_u64("u64") == UINT64_MAX);
  CHECK(metadata.get_f32("f32") == 3.0f);
  for (const char* key : {"i8", "i32", "i64", "u64", "f32", "bool"}) {
    CHECK(complaint(error_of([&] { metadata.get_u32(key); }), {key, "expected an integer from 0"}) == "");
  }
  CHECK(complaint(error_of([&] { metadata.get_i64("u64"); }), {"UINT64 18446744073709551615"}) == "");
  CHECK(complaint(error_of([&] { metadata.get_u64("i64"); }), {"INT64 -1"}) == "");
  CHECK(complaint(error_of([&] { metadata.get_f32("u8"); }), {"UINT8 200", "expected a FLOAT32"}) == "");
}

}  // namespace rung
