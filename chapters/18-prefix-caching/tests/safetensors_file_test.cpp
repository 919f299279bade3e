// Reading one safetensors file.
#include "model_file/safetensors_file.h"

#include <cstring>

#include "testing/catch.h"
#include "testing/fixture.h"
#include "tests/error_text.h"
#include "tests/peak_memory.h"
#include "tests/safetensors_builder.h"

namespace rung {

using testing::complaint;
using testing::error_of;
using testing::safetensors_bytes;
using testing::TemporaryFolder;
using testing::tensor_json;

namespace {

std::string error_in_file(const std::string& bytes) {
  const TemporaryFolder folder;
  const std::string path = folder.write("bad.safetensors", bytes);
  return error_of([&] { SafetensorsFile file(path); });
}

// A file with this header and `data_bytes` zeros.
std::string error_in(const std::string& header, size_t data_bytes = 8) {
  return error_in_file(safetensors_bytes(header, std::string(data_bytes, '\0')));
}

// The header of one tensor "a".
std::string one(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"({"a":{"dtype":)" + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}";
}

}  // namespace

TEST_CASE("a safetensors file gives names, shapes, metadata and values") {
  const TemporaryFolder folder;
  // 1.0, -2.0 in float32; 1.0, 2.0 in bfloat16; 0.5 in float16; three bytes. Offsets run against the header's
  // order.
  const std::string data("\x00\x00\x80\x3f\x00\x00\x00\xc0\x80\x3f\x00\x40\x00\x38\x07\x08\x09", 17);
  const std::string header =
      "{" + tensor_json("u", "U8", "[3,1]", 14, 17) + "," + tensor_json("w", "F32", "[2,1]", 0, 8) +
      R"(,"__metadata__":{"format":"pt","n\u00f6te":"1"},)" + tensor_json("b", "BF16", "[2]", 8, 12) + "," +
      tensor_json("h", "F16", "[]", 12, 14) + "," + tensor_json("none", "I64", "[0,7]", 17, 17) + "}   ";
  const std::string path = folder.write("x.safetensors", safetensors_bytes(header, data));
  const SafetensorsFile file(path);
  CHECK(file.path() == path);
  CHECK(file.data_offset() == 8 + header.size());
  CHECK(file.file_bytes() == 8 + header.size() + 17);
  REQUIRE(file.metadata().size() == 2);
  CHECK(file.metadata()[0] == std::pair<std::string, std::string>("format", "pt"));
  CHECK(file.metadata()[1] == std::pair<std::string, std::string>("nöte", "1"));
  REQUIRE(file.tensors().size() == 5);
  CHECK(file.tensors()[0].name == "u");
  CHECK(file.tensors()[4].shape == Shape{0, 7});

  const Tensor w = file.read(*file.find("w"));
  CHECK(w.shape() == Shape{2, 1});
  CHECK(w.data<float>()[0] == 1.0f);
  CHECK(w.data<float>()[1] == -2.0f);
  const Tensor b = file.read(*file.find("b"));
  CHECK(b.dtype() == DType::bf16);
  CHECK(b.data<bf16_t>()[1].bits == 0x4000);
  const Tensor h = file.read(*file.find("h"));
  CHECK(h.shape().dims() == 0);
  CHECK(h.data<f16_t>()[0].bits == 0x3800);
  CHECK(file.find("x") == nullptr);
  CHECK(file.find("") == nullptr);
  CHECK(complaint(error_of([&] { file.read(*file.find("u")); }), {path, "\"u\"", "U8", "F32, F16 or BF16"}) ==
        "");
}

TEST_CASE("tensors of every dtype are known by size") {
  const std::pair<const char*, int> types[] = {
      {"BOOL", 8}, {"U8", 8},      {"I8", 8},      {"F8_E5M2", 8},     {"F8_E4M3", 8},     {"F8_E8M0", 8},
      {"F4", 4},   {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"I16", 16},
      {"U16", 16}, {"F16", 16},    {"BF16", 16},   {"I32", 32},        {"U32", 32},        {"F32", 32},
      {"C64", 64}, {"F64", 64},    {"I64", 64},    {"U64", 64}};
  for (const auto& [name, bits] : types) {
    INFO(name);
    const size_t bytes = static_cast<size_t>(bits) * 4 / 8;  // of four elements
    const std::string header = "{" + tensor_json("a", name, "[2,2]", 0, bytes) + "}";
    CHECK(error_in(header, bytes) == "(no error)");
    CHECK(complaint(error_in("{" + tensor_json("a", name, "[2,2]", 0, bytes + 1) + "}", bytes + 1),
                    {"\"a\"", name, "[2, 2]", "need " + std::to_string(bytes)}) == "");
  }
  CHECK(complaint(error_in("{" + tensor_json("a", "F4", "[3]", 0, 2) + "}", 2),
                  {"12 bits", "F4", "whole number of bytes"}) == "");
}

TEST_CASE("data that is not aligned for its type is copied to where it is") {
  const TemporaryFolder folder;
  for (size_t padding = 0; padding < 9; ++padding) {
    INFO(padding << " spaces behind the header");
    const std::string header = "{" + tensor_json("a", "F32", "[2]", 0, 8) + "}" + std::string(padding, ' ');
    const std::string data("\x00\x00\x80\x3f\x00\x00\x00\xc0", 8);
    const SafetensorsFile file(folder.write("x.safetensors", safetensors_bytes(header, data)));
    const Tensor a = file.read(file.tensors()[0]);
    CHECK(reinterpret_cast<uintptr_t>(a.raw()) % alignof(float) == 0);
    CHECK(a.data<float>()[0] == 1.0f);
    CHECK(a.data<float>()[1] == -2.0f);
  }
}

TEST_CASE("a tensor outlives the file that it was read from") {
  const TemporaryFolder folder;
  const std::string path = folder.write("x.safetensors", testing::safetensors_of({"a", "b"}));
  Tensor b;
  {
    const SafetensorsFile file(path);
    b = file.read(*file.find("b"));
  }
  CHECK(b.data<float>()[1] == 3.0f);
}

TEST_CASE("a safetensors file cut off after any byte is an error, and so is one with a byte too many") {
  const std::string bytes = testing::safetensors_of({"a", "b"}, 3);
  CHECK(error_in_file(bytes) == "(no error)");
  for (size_t length = 0; length < bytes.size(); ++length) {
    INFO("the first " << length << " of " << bytes.size() << " bytes");
    CHECK(complaint(error_in_file(bytes.substr(0, length)), {"bad.safetensors: "}) == "");
  }
  CHECK(complaint(error_in_file(""), {"0 bytes", "at least 8"}) == "");
  CHECK(complaint(error_in_file(bytes + '\0'), {"1 bytes behind the last tensor"}) == "");
}

TEST_CASE("a header whose size cannot be is refused before it is read") {
  const std::string header = "{" + tensor_json("a", "F32", "[2]", 0, 8) + "}";
  for (uint64_t size :
       {UINT64_MAX, UINT64_MAX - 7, uint64_t{1} << 63, uint64_t{1} << 32, uint64_t{100'000'001}}) {
    const testing::PeakMemory memory;
    CHECK(complaint(error_in_file(safetensors_bytes(header, std::string(8, '\0'), size)),
                    {"offset 0", std::to_string(size), "at most 100000000"}) == "");
    CHECK(memory.bytes() < 1 << 20);
  }
  CHECK(complaint(error_in_file(safetensors_bytes(header, "12345678", 100'000'000)),
                  {"offset 0", "100000000", "bytes follow"}) == "");
  CHECK(complaint(error_in_file(safetensors_bytes(header, "12345678", header.size() + 9)),
                  {"bytes follow"}) == "");
  CHECK(complaint(error_in_file(safetensors_bytes("", "", 0)), {"offset 8", "does not start with {"}) == "");
  CHECK(complaint(error_in_file(safetensors_bytes(header, "12345678", 1)), {"offset 8"}) == "");
  CHECK(complaint(error_in(" " + header), {"offset 8", "does not start with {"}) == "");
  CHECK(complaint(error_in("[]"), {"offset 8"}) == "");
  CHECK(complaint(error_in_file("GGUF\x03" + std::string(100, '\0')), {"offset 0"}) == "");
}

TEST_CASE("a header that is no valid JSON is refused") {
  for (const char* header : {"{ ", "{]", "{\"a\"}", "{\"a\":}", "{} x", "{\"a\":\"\xff\"}"}) {
    INFO(header);
    CHECK(complaint(error_in(header), {"bad.safetensors: header", "not valid JSON", "byte "}) == "");
  }
}

TEST_CASE("a header nested a hundred thousand deep is refused") {
  const std::string deep = std::string(100000, '['), objects = [] {
    std::string text;
    for (int i = 0; i < 100000; ++i) text += "{\"a\":";
    return text;
  }();
  for (const std::string& header :
       {"{\"a\":{\"shape\":" + deep, "{\"a\":" + deep, "{\"__metadata__\":{\"a\":" + deep, objects}) {
    const testing::PeakMemory memory;
    const std::string error = error_in(header);
    CHECK(complaint(error, {"bad.safetensors: header"}) == "");
    CHECK(memory.bytes() < 8 * header.size() + (1 << 20));
  }
  CHECK(complaint(error_in("{\"a\":{\"shape\":" + deep), {"deeper than 3"}) == "");
}

TEST_CASE("a header's fields of the wrong type are named") {
  CHECK(complaint(error_in(R"({"a":1})"), {"\"a\" is 1", "expected an object"}) == "");
  CHECK(complaint(error_in(R"({"a":[]})"), {"\"a\" is an array", "expected an object"}) == "");
  CHECK(complaint(error_in(R"({"a":null})"), {"\"a\" is null", "expected an object"}) == "");
  CHECK(complaint(error_in(R"({"a":{}})"), {"\"a\"", "has no dtype"}) == "");
  CHECK(complaint(error_in(R"({"a":{"dtype":"F32","data_offsets":[0,8]}})"), {"\"a\"", "has no shape"}) ==
        "");
  CHECK(complaint(error_in(R"({"a":{"dtype":"F32","shape":[2]}})"), {"\"a\"", "has no data_offsets"}) == "");
  CHECK(complaint(error_in(R"({"a":{"dtype":"F32","shape":[2],"offset":1}})"),
                  {"unknown field \"offset\""}) == "");
  CHECK(complaint(error_in(R"({"a":{"dtype":"F32","dtype":"F32"}})"), {"\"a\"", "dtype occurs twice"}) == "");
  CHECK(complaint(error_in(one("1", "[2]", "[0,8]")), {"\"a\"", "dtype is 1", "string"}) == "");
  CHECK(complaint(error_in(one("[]", "[2]", "[0,8]")), {"\"a\"", "dtype is an array", "string"}) == "");
  CHECK(complaint(error_in(one("{}", "[2]", "[0,8]")), {"\"a\"", "dtype is an object"}) == "");
  CHECK(complaint(error_in(one("\"F31\"", "[2]", "[0,8]")), {"\"a\"", "\"F31\"", "unknown", "BF16", "U8"}) ==
        "");
  CHECK(complaint(error_in(one("\"F32\"", "2", "[0,8]")), {"\"a\"", "shape is 2", "array"}) == "");
  CHECK(complaint(error_in(one("\"F32\"", "{}", "[0,8]")), {"\"a\"", "shape is an object"}) == "");
  CHECK(complaint(error_in(one("\"F32\"", "\"2\"", "[0,8]")), {"\"a\"", "shape is the string \"2\""}) == "");
  CHECK(complaint(error_in(one("\"F32\"", "[\"2\"]", "[0,8]")), {"\"a\"", "shape[0] is the string \"2\""}) ==
        "");
  CHECK(complaint(error_in(one("\"F32\"", "[1,-2]", "[0,8]")), {"\"a\"", "shape[1] is -2"}) == "");
  CHECK(complaint(error_in(one("\"F32\"", "[2.0]", "[0,8]")), {"\"a\"", "shape[0] is 2.0", "whole number"}) ==
        "");
  CHECK(complaint(error_in(one("\"F32\"", "[2e0]", "[0,8]")), {"\"a\"", "shape[0] is 2e0"}) == "");
  CHECK(complaint(error_in(one("\"F32\"", "[9223372036854775808]", "[0,8]")),
                  {"shape[0] is 9223372036854775808"}) == "");
  CHECK(complaint(error_in(one("\"F32\"", "[99999999999999999999]", "[0,8]")),
                  {"shape[0] is 99999999999999999999"}) == "");
  CHECK(complaint(error_in(one("\"F32\"", "[2]", "[0,8,9]")), {"\"a\"", "data_offsets has 3 elements"}) ==
        "");
  CHECK(complaint(error_in(one("\"F32\"", "[2]", "[0]")), {"\"a\"", "data_offsets has 1 elements"}) == "");
  CHECK(complaint(error_in(one("\"F32\"", "[2]", "[]")), {"\"a\"", "data_offsets has 0 elements"}) == "");
  CHECK(complaint(error_in(one("\"F32\"", "[2]", "[0,true]")), {"\"a\"", "data_offsets[1] is true"}) == "");
  CHECK(complaint(error_in(one("\"F32\"", "[2]", "[-1,7]")), {"\"a\"", "data_offsets[0] is -1"}) == "");
  CHECK(complaint(error_in(R"({"__metadata__":1})"), {"__metadata__ is 1", "expected an object"}) == "");
  CHECK(complaint(error_in(R"({"__metadata__":[]})"), {"__metadata__ is an array"}) == "");
  CHECK(complaint(error_in(R"({"__metadata__":{"k":1}})"), {"__metadata__", "\"k\" is 1", "string"}) == "");
  CHECK(complaint(error_in(R"({"__metadata__":{"k":{}}})"), {"__metadata__", "\"k\""}) == "");
  CHECK(complaint(error_in(R"({"__metadata__":{"k":"","k":""}})"), {"__metadata__", "\"k\" occurs twice"}) ==
        "");
  CHECK(complaint(error_in(R"({"__metadata__":{},"__metadata__":{}})"), {"__metadata__ occurs twice"}) == "");
}

TEST_CASE("a tensor's shape and its range in the file must agree") {
  CHECK(complaint(error_in(one("\"F32\"", "[3]", "[0,8]")), {"\"a\"", "8 bytes", "F32", "[3]", "need 12"}) ==
        "");
  CHECK(complaint(error_in(one("\"F32\"", "[1]", "[0,8]")), {"\"a\"", "8 bytes", "need 4"}) == "");
  CHECK(complaint(error_in(one("\"F32\"", "[]", "[0,8]")), {"\"a\"", "8 bytes", "need 4"}) == "");
  CHECK(complaint(error_in(one("\"F32\"", "[0]", "[0,8]")), {"\"a\"", "8 bytes", "need 0"}) == "");
  CHECK(complaint(error_in(one("\"F32\"", "[2]", "[8,0]")), {"\"a\"", "[8, 0]", "begin <= end"}) == "");
  // Products that wrap around to the right size.
  CHECK(complaint(error_in(one("\"F32\"", "[4294967296,4294967296,2]", "[0,0]")), {"\"a\"", "overflows"}) ==
        "");
  CHECK(complaint(error_in(one("\"F32\"", "[4611686018427387904,2]", "[0,0]")), {"\"a\"", "overflows"}) ==
        "");
  CHECK(complaint(error_in(one("\"F32\"", "[9223372036854775807,9223372036854775807,9223372036854775807]",
                               "[0,8]")),
                  {"\"a\"", "overflows"}) == "");
  // Zero elements are zero, whatever stands beside the zero.
  CHECK(error_in(one("\"F32\"", "[9223372036854775807,9223372036854775807,0]", "[0,0]"), 0) == "(no error)");
}

TEST_CASE("tensors cover the data without overlap, hole or end outside") {
  const auto two = [](const std::string& shape_a, uint64_t begin_a, uint64_t end_a,
                      const std::string& shape_b, uint64_t begin_b, uint64_t end_b) {
    return "{" + tensor_json("a", "F32", shape_a, begin_a, end_a) + "," +
           tensor_json("b", "F32", shape_b, begin_b, end_b) + "}";
  };
  CHECK(error_in(two("[1]", 0, 4, "[1]", 4, 8)) == "(no error)");
  CHECK(error_in(two("[1]", 4, 8, "[1]", 0, 4)) == "(no error)");
  CHECK(complaint(error_in(two("[1]", 0, 4, "[2]", 0, 8)), {"\"b\"", "begin at 0", "inside", "ends at 4"}) ==
        "");
  CHECK(complaint(error_in(two("[2]", 0, 8, "[1]", 4, 8)), {"\"b\"", "begin at 4", "inside", "ends at 8"}) ==
        "");
  CHECK(complaint(error_in(two("[1]", 0, 4, "[1]", 0, 4)), {"begin at 0", "inside"}) == "");
  CHECK(complaint(error_in(two("[1]", 0, 4, "[1]", 8, 12), 12), {"\"b\"", "begin at 8", "hole behind 4"}) ==
        "");
  CHECK(complaint(error_in(two("[1]", 4, 8, "[1]", 8, 12), 12), {"\"a\"", "begin at 4", "hole behind 0"}) ==
        "");
  CHECK(complaint(error_in(two("[1]", 0, 4, "[2]", 4, 12)), {"\"b\"", "end at 12", "8 bytes of data"}) == "");
  CHECK(complaint(error_in(two("[1]", 0, 4, "[1]", 18446744073709551611u, 18446744073709551615u)),
                  {"18446744073709551611"}) == "");
  CHECK(complaint(error_in(two("[1]", 0, 4, "[1]", 9223372036854775803, 9223372036854775807)),
                  {"\"b\"", "end at 9223372036854775807"}) == "");
  CHECK(complaint(error_in("{}"), {"8 bytes behind the last tensor"}) == "");
  CHECK(error_in("{}", 0) == "(no error)");
  // A tensor without elements may stand anywhere, even where another begins.
  CHECK(error_in(two("[2]", 0, 8, "[0]", 0, 0)) == "(no error)");
  CHECK(complaint(error_in(two("[2]", 0, 8, "[0]", 4, 4)), {"\"b\"", "begin at 4", "inside"}) == "");
}

TEST_CASE("a tensor name that occurs twice is refused") {
  const std::string a = tensor_json("a", "F32", "[1]", 0, 4), again = tensor_json("a", "F32", "[1]", 4, 8);
  CHECK(complaint(error_in("{" + a + "," + again + "}"), {"tensor \"a\" occurs twice"}) == "");
  const std::string escaped = tensor_json("\\u0061", "F32", "[1]", 4, 8);  // the same name, spelled otherwise
  CHECK(complaint(error_in("{" + a + "," + escaped + "}"), {"tensor \"a\" occurs twice"}) == "");
}

TEST_CASE("more than four dimensions are listed and not read") {
  const TemporaryFolder folder;
  const SafetensorsFile file(
      folder.write("x.safetensors",
                   safetensors_bytes("{" + tensor_json("a", "F32", "[1,1,2,1,1]", 0, 8) + "}", "12345678")));
  CHECK(file.tensors()[0].dims == 5);
  CHECK(complaint(error_of([&] { file.read(file.tensors()[0]); }), {"\"a\"", "5 dimensions", "at most 4"}) ==
        "");
}

TEST_CASE("memory stays within eight times the file, whatever its header holds") {
  const TemporaryFolder folder;
  std::string tensors = "{", shape = "[0";
  for (int i = 0; i < 30000; ++i) {
    tensors += (i == 0 ? "" : ",") + tensor_json(std::to_string(i), "U8", "[0]", 0, 0);
    shape += ",1";
  }
  std::string metadata = "{\"__metadata__\":{";
  for (int i = 0; i < 100000; ++i) metadata += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":\"\"";
  const std::string headers[] = {
      tensors + "}",
      tensors + ",\"0\":1}",                                                  // an error at the end
      "{" + tensor_json("a", "U8", shape + "]", 0, 0) + "}",                  // 30,001 dimensions
      "{" + tensor_json(std::string(1 << 20, 'n'), "U8", "[0]", 0, 0) + "}",  // a name of a megabyte
      metadata + "}}",
  };
  for (const std::string& header : headers) {
    const std::string path = folder.write("x.safetensors", safetensors_bytes(header, ""));
    const testing::PeakMemory memory;
    error_of([&] { SafetensorsFile file(path); });
    CHECK(memory.bytes() < 8 * (header.size() + 8) + (1 << 20));
  }
}

}  // namespace rung
