// `inspect --tensors` and `inspect --tensor NAME` as the user sees them.
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

// F32 [2, 5] with a NaN and an infinity in it, Q4_0 [1, 32] of 0.5 * (0 - 8), Q2_K, which cannot be decoded.
GgufBuilder three_tensors() {
  GgufBuilder file;
  file.header(3, 1).entry("general.architecture", "llama");
  file.tensor("wild", {5, 2}, 0, 0).tensor("flat", {32, 1}, 2, 64).tensor("packed", {256}, 10, 96).align();
  for (float value : {1.0f, -2.5f, NAN, 4.0f, 0.125f, INFINITY, 0.0f, 3.0f, 1.0f, 2.0f}) file.number(value);
  file.align().number<uint16_t>(0x3800).fill(16).align().fill(84);
  return file;
}

}  // namespace

TEST_CASE("inspect --tensors lists the directory in the file's order") {
  const testing::TemporaryFolder folder;
  const std::string path = folder.write("m.gguf", three_tensors().bytes());
  const std::string start = "[tensors]\nalignment: 32\ntensor_data_offset: 224\n";
  const std::string first = "wild | dims=[5, 2] | type=F32 | offset=0\n";
  const std::string rest =
      "flat | dims=[32, 1] | type=Q4_0 | offset=64\n"
      "packed | dims=[256] | type=Q2_K | offset=96\n";
  const Output all = run_program({"inspect", path, "--tensors"});
  CHECK(all.status == 0);
  CHECK(all.err == "");
  CHECK(all.out == start + first + rest);
  CHECK(run_program({"inspect", path, "--tensors", "--limit", "1"}).out ==
        start + first + "... (2 more tensors)\n");
  CHECK(run_program({"inspect", path, "--tensors", "--limit", "3"}).out == all.out);
  CHECK(run_program({"inspect", path, "--tensors", "--limit", "99"}).out == all.out);
}

TEST_CASE("inspect --tensor shows shape, type and statistics of the finite values") {
  const testing::TemporaryFolder folder;
  const std::string path = folder.write("m.gguf", three_tensors().bytes());
  const Output wild = run_program({"inspect", path, "--tensor", "wild"});
  CHECK(wild.status == 0);
  CHECK(wild.out ==
        "[tensor wild]\n"
        "shape: [2, 5] (outermost first)\n"
        "type: F32\n"
        "bytes: 40\n"
        "min: -2.5\n"
        "max: 4\n"
        "mean: 1.078125\n"  // 8.625 / 8
        "non-finite: 2 of 10\n"
        "first values: 1 -2.5 nan 4 0.125 inf 0 3 ...\n");
  const Output flat = run_program({"inspect", path, "--tensor", "flat"});
  CHECK(complaint(flat.out.substr(0, flat.out.find("min")), {}) != "");  // several lines
  CHECK(flat.out.find("type: Q4_0\nbytes: 18\nmin: -4\nmax: -4\nmean: -4\nnon-finite: 0 of 32\n") !=
        std::string::npos);
}

TEST_CASE("inspect --json can hold the directory and one tensor") {
  const testing::TemporaryFolder folder;
  const std::string path = folder.write("m.gguf", three_tensors().bytes());
  const std::string listed = run_program({"inspect", path, "--tensors", "--limit", "1", "--json"}).out;
  CHECK(listed.substr(listed.find("\"metadata\"")) ==
        "\"metadata\": {\"general.architecture\": \"llama\"}, \"alignment\": 32, \"data_offset\": 224, "
        "\"tensors\": "
        "[{\"name\": \"wild\", \"dims\": [5, 2], \"shape\": [2, 5], \"type\": \"F32\", \"offset\": 0, "
        "\"bytes\": 40}]}\n");
  const std::string shown = run_program({"inspect", path, "--tensor", "wild", "--json"}).out;
  CHECK(shown.substr(shown.find("\"tensor\"")) ==
        "\"tensor\": {\"name\": \"wild\", \"shape\": [2, 5], \"type\": \"F32\", \"bytes\": 40, \"min\": "
        "-2.5, \"max\": 4, "
        "\"mean\": 1.078125, \"non_finite\": 2, \"first_values\": [1, -2.5, null, 4, 0.125, null, 0, 3]}}\n");
}

TEST_CASE("inspect refuses missing and undecodable tensors and bad directories with one line") {
  const testing::TemporaryFolder folder;
  const std::string good = folder.write("m.gguf", three_tensors().bytes());
  const std::string cut = folder.write("cut.gguf", three_tensors().bytes().substr(0, 340));
  const std::string aligned = folder.write(
      "aligned.gguf", GgufBuilder().header(0, 1).entry<uint32_t>("general.alignment", 3).bytes());
  const struct {
    std::vector<std::string> arguments;
    const char* words;
  } cases[] = {
      {{"inspect", good, "--tensor", "none"}, "no tensor \"none\""},
      {{"inspect", good, "--tensor", "none", "--json"}, "no tensor \"none\""},
      {{"inspect", good, "--tensor", "packed"}, "Q2_K"},
      {{"inspect", good, "--tensor", "wild", "--tensors"}, "--tensor"},
      {{"inspect", good, "--tensors", "--limit", "-1"}, "-1"},
      {{"inspect", cut}, "\"packed\""},
      {{"inspect", aligned, "--tensors"}, "general.alignment"},
  };
  for (const auto& bad : cases) {
    const Output result = run_program(bad.arguments);
    INFO(result.err);
    CHECK(result.status == 1);
    CHECK(result.out == "");
    CHECK(std::count(result.err.begin(), result.err.end(), '\n') == 1);
    CHECK(complaint(result.err.substr(0, result.err.size() - 1), {bad.words}) == "");
  }
}

}  // namespace rung
