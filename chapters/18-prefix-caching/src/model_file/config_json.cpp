// From the events of config.json to the fields that Rung knows, and from those to checked hyperparameters.
#include "model_file/config_json.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "model_file/json_events.h"
#include "rung/error.h"
#include "rung/mapped_file.h"

namespace rung {

namespace {

// Fields of the file that Rung reads. All others (dropout, token ids, …) do not change what a forward pass
// computes.
constexpr std::string_view kFields[] = {
    "architectures",
    "attention_bias",
    "head_dim",
    "hidden_act",
    "hidden_size",
    "intermediate_size",
    "layer_types",
    "max_position_embeddings",
    "max_window_layers",
    "mlp_bias",
    "model_type",
    "num_attention_heads",
    "num_hidden_layers",
    "num_key_value_heads",
    "original_max_position_embeddings",
    "partial_rotary_factor",
    "quantization_config",
    "rms_norm_eps",
    "rope_parameters",
    "rope_scaling",
    "rope_theta",
    "sliding_window",
    "tie_word_embeddings",
    "use_sliding_window",
    "vocab_size",
};

constexpr size_t kMaxElements = 1024;  // of an array: layer_types has one for each layer

struct Value {
  enum class Kind : uint8_t { scalar, object, array };
  Kind kind = Kind::scalar;
  JsonScalar scalar;
  std::vector<JsonScalar> elements;  // array: its scalars
};

std::string describe(const Value& value) {
  switch (value.kind) {
    case Value::Kind::scalar:
      return rung::describe(value.scalar);
    case Value::Kind::object:
      return "an object";
    case Value::Kind::array:
      return "an array";
  }
  return "";
}

// The wanted fields of the file, and the members of rope_scaling and rope_parameters as
// "rope_scaling.factor".
class Config : public JsonEvents {
 public:
  explicit Config(const std::string& path) : path_(path) {}

  const std::string& path() const { return path_; }

  bool absent(const std::string& field) const { return values_.count(field) == 0; }

  // Null if the field is absent or null.
  const Value* find(const std::string& field) const {
    const auto found = values_.find(field);
    if (found == values_.end()) return nullptr;
    const Value& value = found->second;
    return value.kind == Value::Kind::scalar && value.scalar.kind == JsonScalar::Kind::null ? nullptr
                                                                                            : &value;
  }

  // The members of an object field, as they stand in the file.
  std::vector<std::string> members(const std::string& object) const {
    std::vector<std::string> names;
    for (auto i = values_.upper_bound(object + ".");
         i != values_.end() && i->first.rfind(object + ".", 0) == 0; ++i) {
      names.push_back(i->first.substr(object.size() + 1));
    }
    return names;
  }

  // From 1 to 2^31 - 1.
  int integer(const std::string& field) const {
    const Value* value = find(field);
    if (value == nullptr) fail(path_, ": field \"", field, "\" is missing, expected a whole number");
    const int number = whole_number(field, *value);
    if (number == 0) wrong(field, *value, "at least 1");
    return number;
  }
  int integer(const std::string& field, int fallback) const {
    return find(field) != nullptr ? integer(field) : fallback;
  }

  // The same, or 0.
  int count(const std::string& field, int fallback) const {
    const Value* value = find(field);
    return value != nullptr ? whole_number(field, *value) : fallback;
  }

  float real(const std::string& field) const {
    const Value* value = find(field);
    if (value == nullptr) fail(path_, ": field \"", field, "\" is missing, expected a number");
    if (value->kind != Value::Kind::scalar ||
        (value->scalar.kind != JsonScalar::Kind::integer && value->scalar.kind != JsonScalar::Kind::real)) {
      wrong(field, *value, "a number");
    }
    const float number = static_cast<float>(value->scalar.real);
    if (!std::isfinite(number)) wrong(field, *value, "a number that float32 can hold");
    return number;
  }
  float real(const std::string& field, float fallback) const {
    return find(field) != nullptr ? real(field) : fallback;
  }

  bool boolean(const std::string& field, bool fallback) const {
    const Value* value = find(field);
    if (value == nullptr) return fallback;
    if (value->kind != Value::Kind::scalar || value->scalar.kind != JsonScalar::Kind::boolean) {
      wrong(field, *value, "true or false");
    }
    return value->scalar.boolean;
  }

  std::string string(const std::string& field, const std::string& fallback) const {
    const Value* value = find(field);
    if (value == nullptr) return fallback;
    if (value->kind != Value::Kind::scalar || value->scalar.kind != JsonScalar::Kind::string) {
      wrong(field, *value, "a string");
    }
    return value->scalar.text;
  }

  std::vector<std::string> strings(const std::string& field) const {
    std::vector<std::string> result;
    const Value* value = find(field);
    if (value == nullptr) return result;
    if (value->kind != Value::Kind::array) wrong(field, *value, "an array of strings");
    for (const JsonScalar& element : value->elements) {
      if (element.kind != JsonScalar::Kind::string) {
        fail(path_, ": field \"", field, "\" holds ", rung::describe(element), ", expected strings");
      }
      result.push_back(element.text);
    }
    return result;
  }

  [[noreturn]] void wrong(const std::string& field, const Value& value, const char* expected) const {
    fail(path_, ": field \"", field, "\" is ", describe(value), ", expected ", expected);
  }
  [[noreturn]] void unsupported(const std::string& field, const std::string& found,
                                const char* expected) const {
    fail(path_, ": field \"", field, "\" is ", found, ", which Rung does not compute; expected ", expected);
  }

  void begin(bool object) override {
    if (depth_ == 0 && !object) fail(path_, ": is an array, expected an object");
    if (Value* value = open()) value->kind = object ? Value::Kind::object : Value::Kind::array;
    ++depth_;
  }
  void end(bool) override { --depth_; }
  void key(std::string&& name) override {
    if (depth_ == 1) {
      const bool wanted = std::find(std::begin(kFields), std::end(kFields), name) != std::end(kFields);
      field_ = wanted ? std::move(name) : "";
      member_.clear();
    } else if (depth_ == 2 && in_rope()) {
      if (name.size() > 100) fail(path_, ": field \"", field_, "\" has a member called ", rung::quoted(name));
      member_ = std::move(name);
    }
  }
  void scalar(JsonScalar&& scalar) override {
    if (depth_ == 0) fail(path_, ": is ", rung::describe(scalar), ", expected an object");
    if (depth_ == 2 && !field_.empty() && values_[field_].kind == Value::Kind::array) {
      std::vector<JsonScalar>& elements = values_[field_].elements;
      if (elements.size() == kMaxElements)
        fail(path_, ": field \"", field_, "\" has over ", kMaxElements, " elements");
      elements.push_back(std::move(scalar));
    } else if (Value* value = open()) {
      value->scalar = std::move(scalar);
    }
  }

 private:
  int whole_number(const std::string& field, const Value& value) const {
    if (value.kind != Value::Kind::scalar || value.scalar.kind != JsonScalar::Kind::integer ||
        value.scalar.negative || value.scalar.magnitude > INT32_MAX) {
      wrong(field, value, "a whole number from 1 to 2147483647");
    }
    return static_cast<int>(value.scalar.magnitude);
  }

  bool in_rope() const { return field_ == "rope_scaling" || field_ == "rope_parameters"; }

  // The value that starts here, if it is one to keep.
  Value* open() {
    std::string name;
    if (depth_ == 1) {
      name = field_;
    } else if (depth_ == 2 && in_rope() && values_[field_].kind == Value::Kind::object) {
      name = field_ + "." + member_;
    }
    if (name.empty()) return nullptr;
    if (values_.size() == 200) fail(path_, ": field \"", field_, "\" has too many members");
    const auto [place, fresh] = values_.try_emplace(name);
    if (!fresh) fail(path_, ": field \"", name, "\" occurs twice");
    return &place->second;
  }

  const std::string& path_;
  std::map<std::string, Value> values_;
  int depth_ = 0;
  std::string field_, member_;
};

struct ArchitectureNames {
  Architecture architecture;
  const char* model_type;
  const char* class_name;
};
constexpr ArchitectureNames kArchitectures[] = {
    {Architecture::llama, "llama", "LlamaForCausalLM"},
    {Architecture::qwen2, "qwen2", "Qwen2ForCausalLM"},
    {Architecture::qwen3, "qwen3", "Qwen3ForCausalLM"},
};

Architecture read_architecture(const Config& config) {
  const std::string type = config.string("model_type", "");
  const std::vector<std::string> classes = config.strings("architectures");
  if (type.empty() && classes.empty())
    fail(config.path(), ": field \"model_type\" is missing, expected llama, qwen2 or qwen3");
  for (const ArchitectureNames& names : kArchitectures) {
    const bool class_fits = std::find(classes.begin(), classes.end(), names.class_name) != classes.end();
    if (type.empty() ? !class_fits : type != names.model_type) continue;
    if (!class_fits && !classes.empty()) {
      config.unsupported("architectures",
                         "[" + rung::quoted(classes[0]) + (classes.size() > 1 ? ", …]" : "]"),
                         names.class_name);
    }
    return names.architecture;
  }
  if (type.empty()) {
    config.unsupported("architectures", "[" + rung::quoted(classes[0]) + (classes.size() > 1 ? ", …]" : "]"),
                       "LlamaForCausalLM, Qwen2ForCausalLM or Qwen3ForCausalLM");
  }
  config.unsupported("model_type", rung::quoted(type), "llama, qwen2 or qwen3");
}

// BEGIN SOLUTION 03.3
// transformers 5 writes everything into "rope_parameters". Before, "rope_theta" stood alone and
// "rope_scaling" was an object (or null) whose kind was called "type", later "rope_type".
RopeParameters read_rope(const Config& config, int head_dim, int context_length) {
  RopeParameters rope;
  rope.dims = head_dim;
  rope.pairing = RopePairing::half_split;

  std::string object = "rope_scaling";
  if (config.members(object).empty() && config.find("rope_parameters") != nullptr) object = "rope_parameters";
  if (const Value* value = config.find(object); value != nullptr && value->kind != Value::Kind::object) {
    config.wrong(object, *value, "an object");
  }
  for (const std::string& member : config.members(object)) {
    const Value* value = config.find(object + "." + member);
    if (value != nullptr && value->kind == Value::Kind::object) {
      config.unsupported(object + "." + member, "an object", "the same RoPE in every layer");
    }
  }
  const auto member = [&](const char* name) { return object + "." + name; };
  const auto member_or_field = [&](const char* name) {
    return config.find(member(name)) != nullptr ? member(name) : std::string(name);
  };

  rope.base = config.real(member_or_field("rope_theta"), 10000);
  const std::string partial = member_or_field("partial_rotary_factor");
  if (config.real(partial, 1) != 1) config.unsupported(partial, describe(*config.find(partial)), "1");

  const std::string kind_field =
      config.find(member("rope_type")) != nullptr ? member("rope_type") : member("type");
  const std::string kind = config.string(kind_field, "default");
  if (kind == "default") {
    rope.scaling = RopeScaling::none;
  } else if (kind == "linear") {
    rope.scaling = RopeScaling::linear;
    rope.factor = config.real(member("factor"));
  } else if (kind == "llama3") {
    rope.scaling = RopeScaling::llama3;
    rope.factor = config.real(member("factor"));
    rope.low_frequency_factor = config.real(member("low_freq_factor"));
    rope.high_frequency_factor = config.real(member("high_freq_factor"));
    const std::string original = config.find("original_max_position_embeddings") != nullptr
                                     ? "original_max_position_embeddings"
                                     : member("original_max_position_embeddings");
    rope.original_context_length = config.integer(original, context_length);
  } else {
    config.unsupported(kind_field, rung::quoted(kind), "default, linear or llama3");
  }
  return rope;
}
// STUB: RopeParameters read_rope(const Config&, int, int) { not_done("03.3"); }
// END SOLUTION

void refuse_sliding_window(const Config& config, Architecture architecture, int layers) {
  for (const std::string& type : config.strings("layer_types")) {
    if (type != "full_attention")
      config.unsupported("layer_types", rung::quoted(type), "full_attention in every layer");
  }
  if (config.find("layer_types") != nullptr) return;
  // LlamaConfig has no sliding window. Qwen's counts if it is switched on, not null, and some layer is behind
  // the first max_window_layers, which have none.
  if (architecture == Architecture::llama || !config.boolean("use_sliding_window", false)) return;
  const Value* window = config.find("sliding_window");
  if (window == nullptr && !config.absent("sliding_window")) return;
  if (layers <= config.count("max_window_layers", 28)) return;
  config.unsupported(
      "use_sliding_window",
      "true, with a sliding_window of " + (window != nullptr ? describe(*window) : "4096 by default"),
      "false");
}

void refuse_other_arithmetic(const Config& config, Architecture architecture, int layers) {
  if (config.find("quantization_config") != nullptr) {
    config.unsupported("quantization_config", "set",
                       "weights in F32, F16 or BF16 (quantized models: as GGUF)");
  }
  const std::string activation = config.string("hidden_act", "silu");
  if (activation != "silu" && activation != "swish")
    config.unsupported("hidden_act", rung::quoted(activation), "silu");
  // Qwen2 always has biases on Q, K and V, whatever this field says.
  if (architecture != Architecture::qwen2 && config.boolean("attention_bias", false)) {
    config.unsupported("attention_bias", "true", "false");
  }
  if (architecture == Architecture::llama && config.boolean("mlp_bias", false)) {
    config.unsupported("mlp_bias", "true", "false");
  }
  refuse_sliding_window(config, architecture, layers);
}

int read_head_dim(const Config& config, Architecture architecture, int hidden, int heads) {
  if (config.find("head_dim") != nullptr) return config.integer("head_dim");
  if (architecture == Architecture::qwen3) return 128;
  if (hidden % heads != 0) {
    fail(config.path(), ": field \"hidden_size\" is ", hidden, ", which \"num_attention_heads\" = ", heads,
         " does not divide, and there is no \"head_dim\"");
  }
  return hidden / heads;
}

// Absent is not the same as null: Qwen's configurations fill in 32, and null means as many as heads.
int read_kv_heads(const Config& config, Architecture architecture, int heads, bool absent) {
  if (absent && architecture != Architecture::llama) return 32;
  return config.integer("num_key_value_heads", heads);
}

}  // namespace

Hyperparameters read_config_json(const std::string& path) {
  const MappedFile file(path);
  Config config(path);
  read_json({reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()}, path, 64, config);

  Hyperparameters h;
  h.architecture = read_architecture(config);
  h.layers = config.integer("num_hidden_layers");
  h.hidden = config.integer("hidden_size");
  h.feed_forward = config.integer("intermediate_size");
  h.heads = config.integer("num_attention_heads");
  h.kv_heads = read_kv_heads(config, h.architecture, h.heads, config.absent("num_key_value_heads"));
  h.head_dim = read_head_dim(config, h.architecture, h.hidden, h.heads);
  h.vocabulary = config.integer("vocab_size");
  h.context_length =
      config.integer("max_position_embeddings", h.architecture == Architecture::llama ? 2048 : 32768);
  h.rms_epsilon = config.real("rms_norm_eps", 1e-6f);
  h.tied_embeddings = config.boolean("tie_word_embeddings", false);
  h.qkv_bias = h.architecture == Architecture::qwen2;
  h.qk_norm = h.architecture == Architecture::qwen3;
  refuse_other_arithmetic(config, h.architecture, h.layers);
  h.rope = read_rope(config, h.head_dim, h.context_length);
  check_hyperparameters(h, path);
  return h;
}

}  // namespace rung
