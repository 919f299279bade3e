// `trace rms_norm`: the normalized rows are transformers'.
#include "testing/catch.h"
#include "tests/trace_check.h"

using namespace rung::testing;

TEST_CASE("trace rms_norm shows the rows that transformers gives attention") {
  const std::string device = GENERATE("cpu", "cuda");
  CHECK(check_trace("llama-rope3", "rms_norm", 1, "normed", "attn_norm", device) == "");
  CHECK(check_trace("qwen3", "rms_norm", 1, "normed", "attn_norm", device) == "");
}
