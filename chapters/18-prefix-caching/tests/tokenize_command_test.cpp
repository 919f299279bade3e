// The commands `tokenize` and `detokenize`.
#include <cstdlib>
#include <filesystem>

#include "testing/catch.h"
#include "testing/fixture.h"
#include "tests/error_text.h"

namespace rung {

using testing::complaint;
using testing::fixture_path;
using testing::Output;
using testing::run_program;
using testing::TemporaryFolder;

namespace {

Output tokenize(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"tokenize", "-m", fixture_path("llama-rope3.gguf")});
  return run_program(arguments);
}

void check_refused(const Output& output, std::initializer_list<std::string_view> words) {
  CHECK(output.status == 1);
  CHECK(output.out == "");
  CHECK(complaint(output.err.substr(0, output.err.size() - 1), words) == "");
}

}  // namespace

TEST_CASE("tokenize prints ids", "[tokenize]") {
  CHECK(tokenize({"--text", ""}).out == "507\n");  // BOS
  CHECK(tokenize({"--text", "", "--no-special"}).out == "\n");
  CHECK(tokenize({"--text", "<|eot_id|>"}).out == "507 511\n");
  CHECK(tokenize({"--text", "<|begin_of_text|><|eot_id|>"}).out == "507 511\n");
  const Output plain = tokenize({"--text", "<|eot_id|>", "--no-special"});
  CHECK(plain.out.size() > 8);
  CHECK(plain.out.find("511") == plain.out.npos);
  CHECK(plain.status == 0);
  CHECK(plain.err == "");
}

TEST_CASE("tokenize --json prints one object", "[tokenize]") {
  CHECK(tokenize({"--json", "--text", "a\"\n<|eot_id|>"}).out ==
        "{\"ids\": [507, 64, 1, 198, 511], \"pieces\": [\"<|begin_of_text|>\", \"a\", \"\\\"\", \"\\n\", "
        "\"<|eot_id|>\"]}\n");
  CHECK(tokenize({"--json", "--no-special", "--text", ""}).out == "{\"ids\": [], \"pieces\": []}\n");
}

TEST_CASE("tokenize --file takes bytes as they are, and detokenize gives them back", "[tokenize]") {
  const TemporaryFolder folder;
  const std::string text = "line\r\n\ttab caf\u00e9 \U0001f680 <|eot_id|>\n";
  const Output ids = tokenize({"--file", folder.write("text", text)});
  CHECK(ids.status == 0);
  const Output back = run_program({"detokenize", "-m", fixture_path("llama-rope3.gguf"), ids.out});
  CHECK(back.out == "<|begin_of_text|>" + text + "\n");
  const Output plain =
      run_program({"detokenize", "--no-special", "-m", fixture_path("llama-rope3.gguf"), ids.out});
  CHECK(plain.out == "line\r\n\ttab caf\u00e9 \U0001f680 \n\n");
  CHECK(tokenize({"--file", folder.write("bad", "\xff\xfe")}).status == 0);
  CHECK(tokenize({"--file", folder.write("empty", "")}).out == "507\n");
}

TEST_CASE("detokenize takes ids in several spellings", "[tokenize]") {
  const std::string model = fixture_path("llama-rope3.gguf");
  CHECK(run_program({"detokenize", "-m", model, "64", "65"}).out == "ab\n");
  CHECK(run_program({"detokenize", "-m", model, "64,65", "[66]"}).out == "abc\n");
  CHECK(run_program({"detokenize", "-m", model, "--json", "64", "1"}).out == "{\"text\": \"a\\\"\"}\n");
  // A token that is half a character.
  const Output half = run_program({"detokenize", "-m", model, "127"});
  CHECK(half.status == 0);
  CHECK(half.out == "\ufffd\n");
}

TEST_CASE("tokenize and detokenize refuse what makes no sense", "[tokenize]") {
  check_refused(tokenize({}), {"--text", "--file"});
  check_refused(tokenize({"--text", "a", "--file", "b"}), {"--text", "--file"});
  check_refused(tokenize({"--file", "/nowhere/file"}), {"/nowhere/file"});
  check_refused(tokenize({"--text", "a\xff"}), {"UTF-8"});
  check_refused(run_program({"tokenize", "-m", "/nowhere.gguf", "--text", "x"}), {"/nowhere.gguf"});
  const std::string model = fixture_path("llama-rope3.gguf");
  check_refused(run_program({"detokenize", "-m", model}), {"ids"});
  check_refused(run_program({"detokenize", "-m", model, "512"}), {"512", "511"});
  check_refused(run_program({"detokenize", "-m", model, "1x"}), {"\"1x\""});
  check_refused(run_program({"detokenize", "-m", model, "99999999999"}), {"99999999999"});
}

TEST_CASE("a missing default model is explained", "[tokenize]") {
  const TemporaryFolder folder;
  const std::filesystem::path before = std::filesystem::current_path();
  const char* chosen = std::getenv("RUNG_MODEL");
  const std::string model = chosen != nullptr ? chosen : "";
  unsetenv("RUNG_MODEL");
  std::filesystem::current_path(folder.path());
  const Output output = run_program({"tokenize", "--text", "x"});
  std::filesystem::current_path(before);
  if (!model.empty()) setenv("RUNG_MODEL", model.c_str(), 1);
  check_refused(output, {"models/SmolLM2", "./run.sh", "--model"});
}

}  // namespace rung
