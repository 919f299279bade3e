// Reading GGUF metadata that is right: every value type, the order of entries, the typed getters, a real
// model.
#include "model_file/gguf_metadata.h"

#include <cmath>
#include <limits>

#include "rung/mapped_file.h"
#include "testing/catch.h"
#include "testing/fixture.h"
#include "tests/error_text.h"
#include "tests/gguf_builder.h"

namespace rung {

using testing::complaint;
using testing::error_of;
using testing::GgufBuilder;

namespace {

Span<const uint8_t> span(const std::string& bytes) {
  return {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()};
}

GgufMetadata parse(const std::string& bytes) {
  ByteReader reader(span(bytes), "x.gguf");
  return read_gguf_metadata(reader);
}

template <class T>
T only_value(const GgufBuilder& file) {
  const GgufMetadata metadata = parse(file.bytes());
  REQUIRE(metadata.entries().size() == 1);
  REQUIRE(std::holds_alternative<T>(metadata.entries()[0].value));
  return std::get<T>(metadata.entries()[0].value);
}

template <class T>
void check_round_trip(T value) {
  CHECK(only_value<T>(GgufBuilder().header(0, 1).entry("key", value)) == value);
}

}  // namespace

TEST_CASE("numbers are read lowest byte first") {
  const uint8_t bytes[] = {0x01, 0x02, 0x03, 0x84, 0x05, 0x06, 0x07, 0x88};
  CHECK(load_little_endian<uint8_t>(bytes + 3) == 0x84);
  CHECK(load_little_endian<int8_t>(bytes + 3) == -124);
  CHECK(load_little_endian<uint16_t>(bytes + 2) == 0x8403);
  CHECK(load_little_endian<int16_t>(bytes + 2) == -31741);  // 0x8403 - 0x10000
  CHECK(load_little_endian<uint32_t>(bytes) == 0x84030201);
  CHECK(load_little_endian<int32_t>(bytes) == -2080177663);  // 0x84030201 - 0x100000000
  CHECK(load_little_endian<uint64_t>(bytes) == 0x8807060584030201);
  const uint8_t one_and_a_half[] = {0x99, 0x00, 0x00, 0xc0, 0x3f};
  CHECK(load_little_endian<float>(one_and_a_half + 1) == 1.5f);
}

TEST_CASE("every metadata value type is read, at its extremes") {
  check_round_trip<uint8_t>(255);
  check_round_trip<int8_t>(-128);
  check_round_trip<uint16_t>(65535);
  check_round_trip<int16_t>(-32768);
  check_round_trip<uint32_t>(4294967295u);
  check_round_trip<int32_t>(std::numeric_limits<int32_t>::min());
  check_round_trip<uint64_t>(std::numeric_limits<uint64_t>::max());
  check_round_trip<int64_t>(std::numeric_limits<int64_t>::min());
  check_round_trip<float>(-0.1f);
  check_round_trip<double>(1e300);
  check_round_trip<bool>(true);
  check_round_trip<bool>(false);
  CHECK(only_value<std::string_view>(GgufBuilder().header(0, 1).entry("key", "text")) == "text");
  CHECK(only_value<std::string_view>(GgufBuilder().header(0, 1).entry("key", "")) == "");
}

TEST_CASE("arrays of every type hold their elements in order") {
  GgufBuilder file;
  file.header(0, 5);
  file.array("i16", GgufType::int16, 3).number<int16_t>(-1).number<int16_t>(2).number<int16_t>(-3);
  file.array("f64", GgufType::float64, 1).number(2.5);
  file.array("bool", GgufType::boolean, 2).raw(std::string_view("\x01\x00", 2));
  file.array("text", GgufType::string, 3).string("a").string("").string("ccc");
  file.array("none", GgufType::uint64, 0);
  const std::string bytes = file.bytes();
  const GgufMetadata metadata = parse(bytes);
  CHECK(metadata.get_i32s("i16") == std::vector<int32_t>{-1, 2, -3});
  CHECK(metadata.get_f32s("f64") == std::vector<float>{2.5f});
  CHECK(metadata.get_strings("text") == std::vector<std::string_view>{"a", "", "ccc"});
  CHECK(metadata.get_u32s("none").empty());
  CHECK(type_name(*metadata.find("text")) == "ARRAY of STRING");

  std::vector<bool> bits;
  std::get<GgufArray>(*metadata.find("bool")).for_each([&](const GgufValue& element) {
    bits.push_back(std::get<bool>(element));
  });
  CHECK(bits == std::vector<bool>{true, false});
  int visited = 0;
  std::get<GgufArray>(*metadata.find("i16")).for_each([&](const GgufValue&) { ++visited; }, 2);
  CHECK(visited == 2);
}

TEST_CASE("arrays may stand inside arrays") {
  GgufBuilder file;
  file.header(0, 2).array("nested", GgufType::array, 2);
  file.number(static_cast<uint32_t>(GgufType::uint8)).number<uint64_t>(2).raw("\x07\x08");
  file.number(static_cast<uint32_t>(GgufType::string)).number<uint64_t>(1).string("x");
  file.entry<uint32_t>("after", 9);
  const std::string bytes = file.bytes();
  const GgufMetadata metadata = parse(bytes);
  CHECK(metadata.get_u32("after") == 9);
  std::vector<std::string> found;
  std::get<GgufArray>(*metadata.find("nested")).for_each([&](const GgufValue& inner) {
    std::get<GgufArray>(inner).for_each([&](const GgufValue& element) {
      if (const auto* number = std::get_if<uint8_t>(&element)) found.push_back(std::to_string(*number));
      if (const auto* text = std::get_if<std::string_view>(&element)) found.emplace_back(*text);
    });
  });
  CHECK(found == std::vector<std::string>{"7", "8", "x"});
}

TEST_CASE("entries keep the file's order and are found by key") {
  const std::string bytes = GgufBuilder()
                                .header(5, 3, 2)
                                .entry<uint8_t>("zebra", 1)
                                .entry<uint8_t>("ant", 2)
                                .entry<uint8_t>("mole", 3)
                                .bytes();
  const GgufMetadata metadata = parse(bytes);
  CHECK(metadata.header().version == 2);
  CHECK(metadata.header().tensor_count == 5);
  CHECK(metadata.header().metadata_count == 3);
  CHECK(metadata.entries()[0].key == "zebra");
  CHECK(metadata.entries()[1].key == "ant");
  CHECK(metadata.entries()[2].key == "mole");
  CHECK(metadata.get_u32("zebra") == 1);
  CHECK(metadata.get_u32("ant") == 2);
  CHECK(metadata.get_u32("mole") == 3);
  CHECK(metadata.find("an") == nullptr);
  CHECK(metadata.find("antelope") == nullptr);
  CHECK(metadata.find("") == nullptr);
}

TEST_CASE("the reader stands right behind the metadata when it is read") {
  const std::string bytes = GgufBuilder().header(0, 1).entry("a", "b").raw("next").bytes();
  ByteReader reader(span(bytes), "x.gguf");
  read_gguf_metadata(reader);
  CHECK(reader.remaining() == 4);
}

TEST_CASE("integer getters accept every integer type whose value fits") {
  GgufBuilder file;
  file.header(0, 8).entry<uint8_t>("u8", 200).entry<int8_t>("i8", -3).entry<uint64_t>("big", 1ull << 63);
  file.entry<int64_t>("minus", -1).entry<uint32_t>("u32", 4294967295u).entry("text", "7").entry("yes", true);
  file.entry<float>("real", 2.0f);
  const std::string bytes = file.bytes();
  const GgufMetadata metadata = parse(bytes);
  CHECK(metadata.get_u32("u8") == 200);
  CHECK(metadata.get_i64("i8") == -3);
  CHECK(metadata.get_u64("big") == 1ull << 63);
  CHECK(metadata.get_u32("u32") == 4294967295u);
  CHECK(metadata.get_i64("u32") == 4294967295);
  CHECK(metadata.get_i32("minus") == -1);

  CHECK(complaint(error_of([&] { metadata.get_u32("i8"); }),
                  {"x.gguf", "\"i8\"", "INT8 -3", "expected an integer"}) == "");
  CHECK(complaint(error_of([&] { metadata.get_i32("u32"); }), {"\"u32\"", "UINT32 4294967295"}) == "");
  CHECK(complaint(error_of([&] { metadata.get_i64("big"); }), {"\"big\"", "UINT64"}) == "");
  CHECK(complaint(error_of([&] { metadata.get_u64("minus"); }), {"\"minus\"", "INT64 -1"}) == "");
  CHECK(complaint(error_of([&] { metadata.get_u32("text"); }),
                  {"\"text\"", "STRING", "expected an integer"}) == "");
  CHECK(complaint(error_of([&] { metadata.get_u32("yes"); }), {"\"yes\"", "BOOL"}) == "");
  CHECK(complaint(error_of([&] { metadata.get_u32("real"); }), {"\"real\"", "FLOAT32 2"}) == "");
}

TEST_CASE("other getters name key, found and expected type") {
  GgufBuilder file;
  file.header(0, 6)
      .entry<double>("real", 0.5)
      .entry<uint32_t>("count", 7)
      .entry("text", "t")
      .entry("no", false);
  file.array("mixed", GgufType::int32, 2).number<int32_t>(1).number<int32_t>(-1);
  file.array("words", GgufType::string, 1).string("w");
  const std::string bytes = file.bytes();
  const GgufMetadata metadata = parse(bytes);
  CHECK(metadata.get_f32("real") == 0.5f);
  CHECK_FALSE(metadata.get_bool("no"));
  CHECK(metadata.get_string("text") == "t");
  CHECK(metadata.get_i32s("mixed") == std::vector<int32_t>{1, -1});

  CHECK(complaint(error_of([&] { metadata.get_f32("count"); }),
                  {"\"count\"", "UINT32 7", "expected a FLOAT32"}) == "");
  CHECK(complaint(error_of([&] { metadata.get_bool("count"); }), {"\"count\"", "expected a BOOL"}) == "");
  CHECK(complaint(error_of([&] { metadata.get_string("count"); }), {"\"count\"", "expected a STRING"}) == "");
  CHECK(complaint(error_of([&] { metadata.get_strings("mixed"); }),
                  {"\"mixed\"", "ARRAY of INT32", "expected an ARRAY of STRING"}) == "");
  CHECK(complaint(error_of([&] { metadata.get_u32s("mixed"); }), {"\"mixed\"", "ARRAY of INT32"}) == "");
  CHECK(complaint(error_of([&] { metadata.get_i32s("words"); }), {"\"words\"", "ARRAY of STRING"}) == "");
  CHECK(complaint(error_of([&] { metadata.get_f32s("mixed"); }),
                  {"\"mixed\"", "ARRAY of INT32", "ARRAY of FLOAT32"}) == "");
  CHECK(complaint(error_of([&] { metadata.get_f32s("words"); }), {"\"words\"", "ARRAY of STRING"}) == "");
  CHECK(complaint(error_of([&] { metadata.get_i32s("count"); }),
                  {"\"count\"", "UINT32", "expected an ARRAY"}) == "");
  CHECK(complaint(error_of([&] { metadata.get_u32("words"); }), {"\"words\"", "ARRAY of STRING"}) == "");
}

TEST_CASE("a missing key is an error or gives the fallback, a wrong type is always an error") {
  const std::string bytes = GgufBuilder().header(0, 1).entry("text", "t").bytes();
  const GgufMetadata metadata = parse(bytes);
  CHECK(complaint(error_of([&] { metadata.get_u32("llama.block_count"); }),
                  {"x.gguf", "\"llama.block_count\"", "missing", "expected an integer"}) == "");
  CHECK(complaint(error_of([&] { metadata.get_strings("words"); }),
                  {"\"words\"", "missing", "ARRAY of STRING"}) == "");
  CHECK(metadata.get_u32_or("none", 5) == 5);
  CHECK(metadata.get_f32_or("none", 0.5f) == 0.5f);
  CHECK(metadata.get_bool_or("none", true));
  CHECK(metadata.get_string_or("none", "x") == "x");
  CHECK(metadata.get_string_or("text", "x") == "t");
  CHECK(metadata.get_i32s_or("none", {1, 2}) == std::vector<int32_t>{1, 2});
  CHECK(metadata.get_strings_or("none", {"q"}) == std::vector<std::string_view>{"q"});
  CHECK(complaint(error_of([&] { metadata.get_u32_or("text", 5); }), {"\"text\"", "STRING"}) == "");
  CHECK(complaint(error_of([&] { metadata.get_i32s_or("text", {}); }), {"\"text\"", "STRING"}) == "");
}

TEST_CASE("the default model's metadata is what its publisher states") {
  const std::string path = testing::default_model_path();
  if (path.empty()) {
    WARN("the default model has not been downloaded");
    return;
  }
  const MappedFile file(path);
  ByteReader reader(file.bytes(), path);
  const GgufMetadata metadata = read_gguf_metadata(reader);
  // From config.json of HuggingFaceTB/SmolLM2-135M-Instruct.
  CHECK(metadata.get_string("general.architecture") == "llama");
  CHECK(metadata.get_u32("llama.block_count") == 30);
  CHECK(metadata.get_u32("llama.embedding_length") == 576);
  CHECK(metadata.get_u32("llama.feed_forward_length") == 1536);
  CHECK(metadata.get_u32("llama.attention.head_count") == 9);
  CHECK(metadata.get_u32("llama.attention.head_count_kv") == 3);
  CHECK(metadata.get_u32("llama.context_length") == 8192);
  CHECK(metadata.get_f32("llama.rope.freq_base") == 100000.0f);
  CHECK(metadata.get_f32("llama.attention.layer_norm_rms_epsilon") == 1e-5f);
  const std::vector<std::string_view> tokens = metadata.get_strings("tokenizer.ggml.tokens");
  REQUIRE(tokens.size() == 49152);
  CHECK(tokens[1] == "<|im_start|>");
  CHECK(metadata.get_i32s("tokenizer.ggml.token_type").size() == 49152);
  CHECK(metadata.get_u32("tokenizer.ggml.eos_token_id") == 2);
}

}  // namespace rung
