// `trace attention`: the mixed values and their projection are transformers'.
#include "testing/catch.h"
#include "tests/trace_check.h"

using namespace rung::testing;

TEST_CASE("trace attention shows what transformers' attention gives") {
  const std::string device = GENERATE("cpu", "cuda");
  for (const char* fixture : {"llama-rope3", "qwen2-bias", "qwen3"}) {
    INFO(fixture << " on " << device);
    CHECK(check_trace(fixture, "attention", 1, "attention", "attention", device) == "");
    CHECK(check_trace(fixture, "attention", 2, "attention_output", "attn_output", device) == "");
  }
}
