// `inspect` as the user sees it: header and metadata on stdout, or one line on stderr and exit status 1.
#include <algorithm>
#include <cmath>

#include "testing/catch.h"
#include "testing/fixture.h"
#include "tests/error_text.h"
#include "tests/gguf_builder.h"

namespace rung {

using testing::complaint;
using testing::GgufBuilder;
using testing::Output;
using testing::run_program;

namespace {

GgufBuilder small_model() {
  GgufBuilder file;
  file.header(0, 7);
  file.entry("general.architecture", "llama").entry<uint32_t>("llama.block_count", 30);
  file.entry<float>("llama.rope.freq_base", 100000).entry<float>("epsilon", 1e-5f);
  file.array("tokens", GgufType::string, 8);
  for (const char* token : {"a", "b\x01", "c\n", "d", "e", "f", "g", "h"}) file.string(token);
  file.entry("text", std::string(300, 'x')).entry("wild\x1b[31mkey", "red \x1b[0m\xff\"quote\"");
  return file;
}

bool is_one_line(const std::string& text) {
  return std::count(text.begin(), text.end(), '\n') == 1 && text.back() == '\n';
}

}  // namespace

TEST_CASE("inspect prints header, metadata and previews of arrays") {
  const testing::TemporaryFolder folder;
  const Output result = run_program({"inspect", folder.write("m.gguf", small_model().bytes())});
  CHECK(result.status == 0);
  CHECK(result.err == "");
  CHECK(result.out ==
        "[header]\n"
        "magic: 0x46554747 (GGUF)\n"
        "version: 3\n"
        "tensor_count: 0\n"
        "metadata_kv_count: 7\n"
        "[metadata]\n"
        "general.architecture: llama\n"
        "llama.block_count: 30\n"
        "llama.rope.freq_base: 100000\n"
        "epsilon: 1e-05\n"
        "tokens: [\"a\", \"b\\x01\", \"c\\n\", \"d\", \"e\", \"f\", ...] (8 x STRING)\n"
        "text: " +
            std::string(120, 'x') +
            "… (300 bytes)\n"
            "wild\\x1b[31mkey: red \\x1b[0m\\xff\"quote\"\n");
}

TEST_CASE("inspect --full leaves nothing out") {
  const testing::TemporaryFolder folder;
  const Output result = run_program({"inspect", "--full", folder.write("m.gguf", small_model().bytes())});
  CHECK(result.status == 0);
  CHECK(result.out.find("\"f\", \"g\", \"h\"] (8 x STRING)\n") != std::string::npos);
  CHECK(result.out.find("text: " + std::string(300, 'x') + "\n") != std::string::npos);
}

TEST_CASE("inspect --json prints one object with everything in it") {
  const testing::TemporaryFolder folder;
  const std::string path = folder.write("m.gguf", small_model().bytes());
  const Output result = run_program({"inspect", "--json", "--model", path});
  CHECK(result.status == 0);
  CHECK(result.err == "");
  const std::string start =
      "{\"path\": \"" + path +
      "\", \"format\": \"gguf\", \"header\": {\"magic\": \"GGUF\", \"version\": 3, \"tensor_count\": 0, "
      "\"metadata_kv_count\": 7}, \"metadata\": {\"general.architecture\": \"llama\", \"llama.block_count\": "
      "30, "
      "\"llama.rope.freq_base\": 100000, \"epsilon\": 1e-05, \"tokens\": [\"a\", \"b\\u0001\", \"c\\n\", "
      "\"d\", "
      "\"e\", \"f\", \"g\", \"h\"], \"text\": \"";
  CHECK(result.out.substr(0, start.size()) == start);
  const std::string end = "\"wild\\u001b[31mkey\": \"red \\u001b[0m\xef\xbf\xbd\\\"quote\\\"\"}}\n";
  REQUIRE(result.out.size() > end.size());
  CHECK(result.out.substr(result.out.size() - end.size()) == end);
}

TEST_CASE("inspect prints numbers of every type") {
  GgufBuilder file;
  file.header(0, 8).entry<uint8_t>("a", 65).entry<int8_t>("b", -65).entry<uint64_t>("c", UINT64_MAX);
  file.entry<double>("d", 0.1).entry<float>("e", 0.1f).entry<float>("f", INFINITY).entry("g", false);
  file.array("h", GgufType::array, 2);
  file.number(static_cast<uint32_t>(GgufType::uint8)).number<uint64_t>(2).raw("\x01\x02");
  file.number(static_cast<uint32_t>(GgufType::int32)).number<uint64_t>(0);
  const testing::TemporaryFolder folder;
  const std::string path = folder.write("m.gguf", file.bytes());
  const Output text = run_program({"inspect", path});
  CHECK(text.out.substr(text.out.find("[metadata]")) ==
        "[metadata]\na: 65\nb: -65\nc: 18446744073709551615\nd: 0.1\ne: 0.1\nf: inf\ng: false\nh: [[1, 2], "
        "[]] (2 x ARRAY)\n");
  const Output json = run_program({"inspect", path, "--json"});
  CHECK(json.out.substr(json.out.find("\"metadata\"")) ==
        "\"metadata\": {\"a\": 65, \"b\": -65, \"c\": 18446744073709551615, \"d\": 0.1, \"e\": 0.1, \"f\": "
        "null, "
        "\"g\": false, \"h\": [[1, 2], []]}}\n");
}

TEST_CASE("inspect refuses bad files with one line on stderr and exit status 1") {
  const testing::TemporaryFolder folder;
  const struct {
    const char* name;
    std::string bytes;
    const char* words;
  } files[] = {
      {"empty.gguf", "", "ends inside the magic"},
      {"zip.gguf", "PK\3\4" + std::string(60, '\0'), "expected \"GGUF\""},
      {"cut.gguf", small_model().bytes().substr(0, 200), "offset "},
      {"count.gguf", GgufBuilder().header(0, UINT64_MAX).bytes(), "18446744073709551615"},
      {"big.gguf", GgufBuilder().header(0, 0, 0x03000000).bytes(), "big-endian"},
      {"twice.gguf", GgufBuilder().header(0, 2).entry<bool>("k", true).entry<bool>("k", true).bytes(),
       "same key"},
  };
  for (const auto& file : files) {
    for (const char* json : {"", "--json"}) {
      std::vector<std::string> arguments = {"inspect", folder.write(file.name, file.bytes)};
      if (*json != '\0') arguments.push_back(json);
      const Output result = run_program(arguments);
      INFO(file.name << ": " << result.err);
      CHECK(result.status == 1);
      CHECK(result.out == "");
      CHECK(is_one_line(result.err));
      CHECK(complaint(result.err.substr(0, result.err.size() - 1), {file.name, file.words}) == "");
    }
  }
  for (const std::string& path : {folder.path() + "/none.gguf", folder.path()}) {
    const Output result = run_program({"inspect", path});
    CHECK(result.status == 1);
    CHECK(is_one_line(result.err));
    CHECK(result.err.find(path) != std::string::npos);
  }
  const Output nothing = run_program({"inspect"});
  CHECK(nothing.status == 1);
  CHECK(nothing.err == "rung: inspect: expected the path of a model: rung inspect PATH\n");
}

}  // namespace rung
