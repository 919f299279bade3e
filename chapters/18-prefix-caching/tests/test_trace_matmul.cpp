// `trace matmul`: the queries, keys and values are transformers'.
#include "testing/catch.h"
#include "tests/trace_check.h"

using namespace rung::testing;

TEST_CASE("trace matmul shows the queries, keys and values of transformers") {
  const std::string device = GENERATE("cpu", "cuda");
  // Not llama's q and k, whose rows GGUF permutes.
  CHECK(check_trace("qwen2-bias", "matmul", 0, "q", "q", device) == "");
  CHECK(check_trace("qwen2-bias", "matmul", 1, "k", "k", device) == "");
  CHECK(check_trace("qwen3", "matmul", 0, "q", "q", device) == "");
  CHECK(check_trace("llama-rope3", "matmul", 2, "v", "v", device) == "");
}
