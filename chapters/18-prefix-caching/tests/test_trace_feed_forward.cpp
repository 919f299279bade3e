// `trace feed_forward`: all of layer 0 gives transformers' values.
#include "testing/catch.h"
#include "tests/trace_check.h"

using namespace rung::testing;

TEST_CASE("trace feed_forward ends with the residual stream that transformers hands to the next layer") {
  const std::string device = GENERATE("cpu", "cuda");
  for (const std::string fixture : {"llama-rope3", "qwen2-bias", "qwen3", "llama-linear"}) {
    INFO(fixture << " on " << device);
    CHECK(check_trace(fixture, "feed_forward", 0, "residual", "attn_residual", device) == "");
    CHECK(check_trace(fixture, "feed_forward", 4, "gated", "ffn_gated", device) == "");
    CHECK(check_trace(fixture, "feed_forward", 6, "residual", "layer_output", device) == "");
  }
}
