// The checks that hyperparameters pass, whichever file they come from.
#include "model_file/hyperparameters.h"

#include <cmath>

#include "testing/catch.h"
#include "tests/error_text.h"

namespace rung {

using testing::complaint;
using testing::error_of;

namespace {

// Llama-3.2-1B's.
Hyperparameters good() {
  Hyperparameters h;
  h.layers = 16;
  h.hidden = 2048;
  h.feed_forward = 8192;
  h.heads = 32;
  h.kv_heads = 8;
  h.head_dim = 64;
  h.vocabulary = 128256;
  h.context_length = 131072;
  h.rms_epsilon = 1e-5f;
  h.rope.dims = 64;
  return h;
}

template <class Change>
std::string error_after(Change change) {
  Hyperparameters h = good();
  change(h);
  return error_of([&] { check_hyperparameters(h, "model.x"); });
}

}  // namespace

TEST_CASE("good hyperparameters pass, at the edges too") {
  CHECK(error_after([](Hyperparameters&) {}) == "(no error)");
  CHECK(error_after([](Hyperparameters& h) { h.kv_heads = 1; }) == "(no error)");
  CHECK(error_after([](Hyperparameters& h) { h.kv_heads = 32; }) == "(no error)");
  CHECK(error_after([](Hyperparameters& h) { h.rope.dims = 2; }) == "(no error)");
  CHECK(error_after([](Hyperparameters& h) { h.layers = h.context_length = h.vocabulary = 1; }) ==
        "(no error)");
  CHECK(error_after([](Hyperparameters& h) { h.context_length = INT32_MAX; }) == "(no error)");
  CHECK(error_after([](Hyperparameters& h) { h.rope.frequency_factors.assign(32, 1.5f); }) == "(no error)");
  CHECK(good().query_width() == 2048);
  CHECK(good().kv_width() == 512);
}

TEST_CASE("each number out of range is named with both its names") {
  using H = Hyperparameters;
  const struct {
    int H::*field;
    const char *config, *gguf;
    int too_large;
  } fields[] = {{&H::layers, "num_hidden_layers", "block_count", 1025},
                {&H::hidden, "hidden_size", "embedding_length", (1 << 20) + 1},
                {&H::feed_forward, "intermediate_size", "feed_forward_length", (1 << 24) + 1},
                {&H::heads, "num_attention_heads", "attention.head_count", (1 << 16) + 1},
                {&H::kv_heads, "num_key_value_heads", "attention.head_count_kv", (1 << 16) + 1},
                {&H::head_dim, "head_dim", "attention.key_length", (1 << 14) + 2},
                {&H::vocabulary, "vocab_size", "token_embd.weight", (1 << 24) + 1},
                {&H::context_length, "max_position_embeddings", "context_length", -1}};
  for (const auto& field : fields) {
    for (int value : {0, -1, INT32_MIN, field.too_large}) {
      INFO(field.config << " = " << value);
      CHECK(complaint(error_after([&](H& h) { h.*field.field = value; }),
                      {"model.x", field.config, field.gguf, std::to_string(value)}) == "");
    }
  }
}

TEST_CASE("heads that do not divide, odd heads and impossible RoPE are refused") {
  using H = Hyperparameters;
  CHECK(complaint(error_after([](H& h) { h.kv_heads = 5; }), {"model.x", "32", "5", "does not divide"}) ==
        "");
  CHECK(complaint(error_after([](H& h) { h.kv_heads = 64; }), {"model.x", "32", "64", "does not divide"}) ==
        "");
  CHECK(complaint(error_after([](H& h) { h.head_dim = 63; }), {"head_dim", "63", "even"}) == "");
  CHECK(complaint(error_after([](H& h) { h.rope.dims = 66; }), {"rope.dimension_count", "66", "2 to 64"}) ==
        "");
  CHECK(complaint(error_after([](H& h) { h.rope.dims = 33; }), {"rope.dimension_count", "33", "even"}) == "");
  CHECK(complaint(error_after([](H& h) { h.rope.dims = 0; }), {"rope.dimension_count", "0"}) == "");
  for (float bad : {0.0f, -1.0f, NAN, INFINITY}) {
    INFO(bad);
    CHECK(complaint(error_after([&](H& h) { h.rms_epsilon = bad; }), {"rms_norm_eps", "above 0"}) == "");
    CHECK(complaint(error_after([&](H& h) { h.rope.base = bad; }), {"rope_theta", "above 0"}) == "");
    CHECK(complaint(error_after([&](H& h) {
                      h.rope.scaling = RopeScaling::linear;
                      h.rope.factor = bad;
                    }),
                    {"rope_scaling.factor", "above 0"}) == "");
    CHECK(complaint(error_after([&](H& h) {
                      h.rope.frequency_factors.assign(32, 1);
                      h.rope.frequency_factors[7] = bad;
                    }),
                    {"rope_freqs.weight[7]", "above 0"}) == "");
  }
  CHECK(complaint(error_after([](H& h) { h.rms_epsilon = 1; }), {"rms_norm_eps", "less than 1"}) == "");
  CHECK(complaint(error_after([](H& h) { h.rope.frequency_factors.assign(31, 1); }),
                  {"rope_freqs.weight", "31", "32"}) == "");
  CHECK(complaint(error_after([](H& h) {
                    h.rope.frequency_factors.assign(32, 1);
                    h.rope.scaling = RopeScaling::linear;
                    h.rope.factor = 2;
                  }),
                  {"rope_freqs.weight", "linear", "one of them"}) == "");
  const auto llama3 = [](float low, float high, int original) {
    return [=](H& h) {
      h.rope.scaling = RopeScaling::llama3;
      h.rope.factor = 8;
      h.rope.low_frequency_factor = low;
      h.rope.high_frequency_factor = high;
      h.rope.original_context_length = original;
    };
  };
  CHECK(error_after(llama3(1, 4, 8192)) == "(no error)");
  CHECK(complaint(error_after(llama3(4, 4, 8192)), {"low_freq_factor", "high_freq_factor"}) == "");
  CHECK(complaint(error_after(llama3(0, 4, 8192)), {"low_freq_factor"}) == "");
  CHECK(complaint(error_after(llama3(NAN, 4, 8192)), {"low_freq_factor"}) == "");
  CHECK(complaint(error_after(llama3(1, NAN, 8192)), {"high_freq_factor"}) == "");
  CHECK(complaint(error_after(llama3(1, 4, 0)), {"original_max_position_embeddings", "0"}) == "");
}

}  // namespace rung
