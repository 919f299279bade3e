// `trace` on fixture models: the rows that it shows are transformers', and wrong input is refused in one
// line.
#include "testing/catch.h"
#include "testing/fixture.h"
#include "tests/trace_check.h"

using namespace rung;
using namespace rung::testing;

namespace {

const std::string& model() {
  static const std::string path = fixture_path("llama-untied");
  return path;
}

// One line on stderr besides the one that names the device.
bool one_line(const Output& output, const std::string& part) {
  return output.status == 1 && output.out.empty() && output.err.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("trace embedding shows the rows that transformers embeds") {
  const std::string device = GENERATE("cpu", "cuda");
  for (const std::string fixture : {"llama-untied", "qwen2-bias", "llama-bf16"}) {
    INFO(fixture << " on " << device);
    CHECK(check_trace(fixture, "embedding", 0, "residual", "embedding", device, 1e-6) == "");
  }
}

TEST_CASE("trace prints the tokens of a text and a table of rows") {
  const Output output =
      run_program({"trace", "embedding", "-m", model(), "--text", "The river turns", "--device", "cpu"});
  INFO(output.err);
  CHECK(output.status == 0);
  CHECK(output.err == "device: cpu\n");
  // The ids that the `tokenizers` package gives.
  CHECK(output.out.find("4 tokens: 311 ") == 0);
  CHECK(output.out.find("residual [4, 64]") != std::string::npos);
}

TEST_CASE("trace refuses unknown steps, devices and ids") {
  CHECK(one_line(run_program({"trace", "nothing", "-m", model()}), "trace: there is no step \"nothing\""));
  CHECK(one_line(run_program({"trace", "-m", model(), "--device", "tpu"}), "tpu"));
  CHECK(one_line(run_program({"trace", "-m", model(), "--text", ""}), "trace: --text has no tokens"));
  CHECK(one_line(run_program({"trace", "-m", model(), "--ids", "1,512"}),
                 "token 1 has id 512, expected 0 to 511 (the vocabulary has 512 tokens)"));
  for (const char* ids : {"1,", "x", "1 2", "99999999999", ",1"}) {
    CHECK(one_line(run_program({"trace", "-m", model(), "--ids", ids}),
                   "expected numbers separated by commas"));
  }
}
