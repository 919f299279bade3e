// Ranges and relations that every model must satisfy, whichever file its numbers come from.
#include "model_file/hyperparameters.h"

#include <cmath>
#include <tuple>

#include "rung/error.h"

namespace rung {

const char* name(Architecture architecture) {
  switch (architecture) {
    case Architecture::llama:
      return "llama";
    case Architecture::qwen2:
      return "qwen2";
    case Architecture::qwen3:
      return "qwen3";
  }
  return "?";
}

const char* name(RopePairing pairing) {
  return pairing == RopePairing::interleaved ? "interleaved" : "half-split";
}

const char* name(RopeScaling scaling) {
  switch (scaling) {
    case RopeScaling::none:
      return "none";
    case RopeScaling::linear:
      return "linear";
    case RopeScaling::llama3:
      return "llama3";
  }
  return "?";
}

namespace {

// A field as config.json and as GGUF (behind "ARCH.") call it.
struct FieldName {
  const char* config;
  const char* gguf;
};

std::string text(const FieldName& field) {
  return std::string(field.config) + " (GGUF: " + field.gguf + ")";
}

constexpr FieldName kLayers = {"num_hidden_layers", "block_count"};
constexpr FieldName kHidden = {"hidden_size", "embedding_length"};
constexpr FieldName kFeedForward = {"intermediate_size", "feed_forward_length"};
constexpr FieldName kHeads = {"num_attention_heads", "attention.head_count"};
constexpr FieldName kKvHeads = {"num_key_value_heads", "attention.head_count_kv"};
constexpr FieldName kHeadDim = {"head_dim", "attention.key_length"};
constexpr FieldName kVocabulary = {"vocab_size", "the rows of token_embd.weight"};
constexpr FieldName kContext = {"max_position_embeddings", "context_length"};
constexpr FieldName kEpsilon = {"rms_norm_eps", "attention.layer_norm_rms_epsilon"};
constexpr FieldName kBase = {"rope_theta", "rope.freq_base"};
constexpr FieldName kRopeDims = {"the elements that RoPE turns", "rope.dimension_count"};
constexpr FieldName kFactor = {"rope_scaling.factor", "rope.scaling.factor"};

void check_range(const std::string& source, const FieldName& field, int64_t value, int64_t lowest,
                 int64_t highest) {
  if (value < lowest || value > highest) {
    fail(source, ": ", text(field), " is ", value, ", expected ", lowest, " to ", highest);
  }
}

void check_positive(const std::string& source, const FieldName& field, float value) {
  if (!(value > 0) || !std::isfinite(value)) {
    fail(source, ": ", text(field), " is ", value, ", expected a finite number above 0");
  }
}

void check_rope(const RopeParameters& rope, int head_dim, const std::string& source) {
  check_positive(source, kBase, rope.base);
  check_range(source, kRopeDims, rope.dims, 2, head_dim);
  if (rope.dims % 2 != 0) fail(source, ": ", text(kRopeDims), " is ", rope.dims, ", expected an even number");
  if (rope.scaling != RopeScaling::none) check_positive(source, kFactor, rope.factor);
  if (rope.scaling == RopeScaling::llama3) {
    if (!(rope.low_frequency_factor > 0) || !(rope.high_frequency_factor > rope.low_frequency_factor)) {
      fail(source, ": rope_scaling.low_freq_factor is ", rope.low_frequency_factor, " and high_freq_factor ",
           rope.high_frequency_factor, ", expected 0 < low < high");
    }
    if (rope.original_context_length < 1) {
      fail(source, ": rope_scaling.original_max_position_embeddings is ", rope.original_context_length,
           ", expected at least 1");
    }
  }
  if (rope.frequency_factors.empty()) return;
  if (rope.scaling != RopeScaling::none) {
    fail(source, ": has both rope_freqs.weight and ", name(rope.scaling),
         " RoPE scaling, expected one of them");
  }
  if (rope.frequency_factors.size() != static_cast<size_t>(rope.dims / 2)) {
    fail(source, ": rope_freqs.weight has ", rope.frequency_factors.size(), " elements, expected ",
         rope.dims / 2, ", one for each pair of the ", rope.dims, " elements that RoPE turns");
  }
  for (size_t i = 0; i < rope.frequency_factors.size(); ++i) {
    if (!(rope.frequency_factors[i] > 0) || !std::isfinite(rope.frequency_factors[i])) {
      fail(source, ": rope_freqs.weight[", i, "] is ", rope.frequency_factors[i],
           ", expected a finite number above 0");
    }
  }
}

}  // namespace

bool operator==(const Hyperparameters& a, const Hyperparameters& b) {
  const auto shape = [](const Hyperparameters& h) {
    return std::tie(h.architecture, h.layers, h.hidden, h.feed_forward, h.heads, h.kv_heads, h.head_dim,
                    h.vocabulary, h.context_length, h.rms_epsilon, h.tied_embeddings, h.qkv_bias, h.qk_norm);
  };
  const auto rope = [](const RopeParameters& r) {
    return std::tie(r.base, r.dims, r.pairing, r.scaling, r.factor, r.low_frequency_factor,
                    r.high_frequency_factor, r.original_context_length, r.frequency_factors);
  };
  return shape(a) == shape(b) && rope(a.rope) == rope(b.rope);
}

void check_hyperparameters(const Hyperparameters& h, const std::string& source) {
  check_range(source, kLayers, h.layers, 1, 1024);
  check_range(source, kHidden, h.hidden, 1, 1 << 20);
  check_range(source, kFeedForward, h.feed_forward, 1, 1 << 24);
  check_range(source, kHeads, h.heads, 1, 1 << 16);
  check_range(source, kKvHeads, h.kv_heads, 1, 1 << 16);
  if (h.heads % h.kv_heads != 0) {
    fail(source, ": ", text(kHeads), " is ", h.heads, ", which ", text(kKvHeads), " = ", h.kv_heads,
         " does not divide");
  }
  check_range(source, kHeadDim, h.head_dim, 2, 1 << 14);
  if (h.head_dim % 2 != 0)
    fail(source, ": ", text(kHeadDim), " is ", h.head_dim, ", expected an even number");
  check_range(source, kVocabulary, h.vocabulary, 1, 1 << 24);
  check_range(source, kContext, h.context_length, 1, INT32_MAX);
  check_positive(source, kEpsilon, h.rms_epsilon);
  if (h.rms_epsilon >= 1) fail(source, ": ", text(kEpsilon), " is ", h.rms_epsilon, ", expected less than 1");
  check_rope(h.rope, h.head_dim, source);
}

}  // namespace rung
