// From GGUF keys to checked hyperparameters.
#include "model_file/gguf_model.h"

#include "rung/error.h"

namespace rung {

namespace {

// The keys of a model's shape stand behind its architecture's name: "llama.block_count".
class Keys {
 public:
  Keys(const GgufMetadata& metadata, std::string architecture)
      : metadata_(metadata), architecture_(std::move(architecture)) {}

  std::string full(const char* key) const { return architecture_ + "." + key; }
  bool has(const char* key) const { return metadata_.has(full(key)); }

  int integer(const char* key) const { return in_range(key, metadata_.get_u64(full(key))); }
  int integer(const char* key, int fallback) const { return has(key) ? integer(key) : fallback; }
  float real(const char* key) const { return metadata_.get_f32(full(key)); }
  float real(const char* key, float fallback) const { return metadata_.get_f32_or(full(key), fallback); }
  bool boolean(const char* key, bool fallback) const { return metadata_.get_bool_or(full(key), fallback); }
  std::string_view string(const char* key, std::string_view fallback) const {
    return metadata_.get_string_or(full(key), fallback);
  }

  template <class T>
  [[noreturn]] void unsupported(const char* key, const T& found, const char* expected) const {
    fail(metadata_.source(), ": key \"", full(key), "\" is ", found,
         ", which Rung does not compute; expected ", expected);
  }

 private:
  int in_range(const char* key, uint64_t value) const {
    if (value < 1 || value > INT32_MAX) {
      fail(metadata_.source(), ": key \"", full(key), "\" is ", value, ", expected 1 to 2147483647");
    }
    return static_cast<int>(value);
  }

  const GgufMetadata& metadata_;
  std::string architecture_;
};

Architecture read_architecture(const GgufMetadata& metadata) {
  const std::string_view found = metadata.get_string("general.architecture");
  for (Architecture architecture : {Architecture::llama, Architecture::qwen2, Architecture::qwen3}) {
    if (found == name(architecture)) return architecture;
  }
  fail(metadata.source(), ": key \"general.architecture\" is ", rung::quoted(found),
       ", which Rung does not compute; expected llama, qwen2 or qwen3");
}

void refuse_other_arithmetic(const GgufFile& file, const Keys& keys, Architecture architecture,
                             int context_length) {
  const GgufMetadata& metadata = file.metadata();
  if (const uint64_t parts = metadata.get_u64_or("split.count", 0); parts > 1) {
    fail(file.path(), ": key \"split.count\" is ", parts,
         ": this is one part of a model; join the parts first (llama-gguf-split --merge)");
  }
  if (const uint64_t experts = metadata.get_u64_or(keys.full("expert_count"), 0); experts != 0) {
    keys.unsupported("expert_count", experts, "no experts");
  }
  const uint64_t window = metadata.get_u64_or(keys.full("attention.sliding_window"), 0);
  if (window != 0 && window < static_cast<uint64_t>(context_length)) {
    keys.unsupported("attention.sliding_window", window, "attention over the whole context");
  }
  if (!keys.boolean("attention.causal", true)) keys.unsupported("attention.causal", "false", "true");
  for (const GgufTensor& tensor : file.tensors()) {
    const std::string_view name = tensor.name;
    const auto ends_with = [&](std::string_view end) {
      return name.size() >= end.size() && name.substr(name.size() - end.size()) == end;
    };
    if (!ends_with(".bias")) continue;
    if (architecture == Architecture::qwen2 &&
        (ends_with(".attn_q.bias") || ends_with(".attn_k.bias") || ends_with(".attn_v.bias"))) {
      continue;
    }
    fail(file.path(), ": tensor ", rung::quoted(name), " is a bias, which Rung does not add in ",
         rung::name(architecture), " models");
  }
}

RopeParameters read_rope(const GgufFile& file, const Keys& keys, Architecture architecture, int head_dim) {
  RopeParameters rope;
  rope.base = keys.real("rope.freq_base", 10000);
  rope.dims = keys.integer("rope.dimension_count", head_dim);
  rope.pairing = architecture == Architecture::llama ? RopePairing::interleaved : RopePairing::half_split;

  // A factor of 0 means none, and a factor alone means linear scaling: so llama.cpp reads these keys, and its
  // older name for the factor.
  const char* factor_key = keys.has("rope.scaling.factor") ? "rope.scaling.factor" : "rope.scale_linear";
  const float factor = keys.real(factor_key, 0);
  const std::string_view scaling = keys.string("rope.scaling.type", "linear");
  if (scaling == "linear") {
    if (factor != 0 && factor != 1) {
      rope.scaling = RopeScaling::linear;
      rope.factor = factor;
    }
  } else if (scaling != "none") {
    keys.unsupported("rope.scaling.type", rung::quoted(scaling), "none or linear");
  }
  if (const float attention = keys.real("rope.scaling.attn_factor", 1); attention != 1) {
    keys.unsupported("rope.scaling.attn_factor", attention, "1");
  }

  if (const Tensor* factors = file.find("rope_freqs.weight")) {
    if (factors->dtype() != DType::f32 || factors->shape().dims() != 1) {
      fail(file.path(), ": tensor \"rope_freqs.weight\" is ", name(factors->dtype()), " ",
           factors->shape().text(), ", expected F32 with one dimension");
    }
    // Checked before it is copied: the tensor may be as large as the file.
    check_shape((file.path() + ": tensor \"rope_freqs.weight\"").c_str(), *factors, Shape{rope.dims / 2});
    rope.frequency_factors.assign(factors->data<float>(), factors->data<float>() + factors->elements());
  }
  return rope;
}

Hyperparameters read_hyperparameters(const GgufFile& file) {
  const GgufMetadata& metadata = file.metadata();
  Hyperparameters h;
  h.architecture = read_architecture(metadata);
  const Keys keys(metadata, name(h.architecture));
  h.model_name = metadata.get_string_or("general.name", "");
  h.layers = keys.integer("block_count");
  h.hidden = keys.integer("embedding_length");
  h.feed_forward = keys.integer("feed_forward_length");
  h.heads = keys.integer("attention.head_count");
  h.kv_heads = keys.integer("attention.head_count_kv", h.heads);
  h.context_length = keys.integer("context_length");
  h.rms_epsilon = keys.real("attention.layer_norm_rms_epsilon");
  h.qkv_bias = h.architecture == Architecture::qwen2;
  h.qk_norm = h.architecture == Architecture::qwen3;

  if (keys.has("attention.key_length")) {
    h.head_dim = keys.integer("attention.key_length");
  } else if (h.hidden % h.heads == 0) {
    h.head_dim = h.hidden / h.heads;
  } else {
    fail(file.path(), ": key \"", keys.full("embedding_length"), "\" is ", h.hidden, ", which \"",
         keys.full("attention.head_count"), "\" = ", h.heads, " does not divide, and there is no \"",
         keys.full("attention.key_length"), "\"");
  }
  if (const int value_length = keys.integer("attention.value_length", h.head_dim);
      value_length != h.head_dim) {
    keys.unsupported("attention.value_length", value_length, "the length of keys");
  }

  const GgufTensor* embedding = file.entry("token_embd.weight");
  if (embedding == nullptr) fail(file.path(), ": tensor \"token_embd.weight\" is missing");
  if (embedding->shape.dims() != 2 || embedding->shape[1] != h.hidden) {
    fail(file.path(), ": tensor \"token_embd.weight\" has shape ", embedding->shape.text(),
         ", expected [vocabulary, ", h.hidden, "]");
  }
  if (embedding->shape[0] > INT32_MAX) {
    fail(file.path(), ": tensor \"token_embd.weight\" has ", embedding->shape[0], " rows, expected at most ",
         INT32_MAX);
  }
  h.vocabulary = static_cast<int>(embedding->shape[0]);
  h.tied_embeddings = file.entry("output.weight") == nullptr;

  refuse_other_arithmetic(file, keys, h.architecture, h.context_length);
  h.rope = read_rope(file, keys, h.architecture, h.head_dim);
  check_hyperparameters(h, file.path());
  return h;
}

}  // namespace

GgufModel::GgufModel(const std::string& path)
    : file_(GgufFile::open(path)), hyperparameters_(read_hyperparameters(*file_)) {}

std::vector<std::string> GgufModel::tensor_names() const {
  std::vector<std::string> names;
  names.reserve(file_->tensors().size());
  for (const GgufTensor& tensor : file_->tensors()) names.emplace_back(tensor.name);
  return names;
}

}  // namespace rung
