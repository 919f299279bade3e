// `trace rope`: Q and K before and after their turn are transformers'.
#include "testing/catch.h"
#include "tests/trace_check.h"

using namespace rung::testing;

TEST_CASE("trace rope shows the Q and K that transformers turns") {
  const std::string device = GENERATE("cpu", "cuda");
  // Safetensors, so that pairs are half-split as transformers has them.
  for (const std::string fixture : {"llama-rope3", "qwen2-bias", "qwen3"}) {
    INFO(fixture << " on " << device);
    const std::string norm = fixture == "qwen3" ? "_norm" : "";  // qwen3 normalizes each head first
    CHECK(check_trace(fixture, "rope", 0, "q", "q" + norm, device) == "");
    CHECK(check_trace(fixture, "rope", 1, "q", "q_rope", device) == "");
    CHECK(check_trace(fixture, "rope", 2, "k", "k" + norm, device) == "");
    CHECK(check_trace(fixture, "rope", 3, "k", "k_rope", device) == "");
  }
}
