// Hyperparameters as lines and as JSON, both from one list of names and values.
#include "commands/inspect_hyperparameters.h"

#include <ostream>
#include <utility>
#include <vector>

#include "commands/json_text.h"
#include "commands/number_text.h"
#include "rung/error.h"

namespace rung {

namespace {

// Name and value, the value as JSON.
using Fields = std::vector<std::pair<const char*, std::string>>;

std::string json(bool value) {
  return value ? "true" : "false";
}

std::string json(const std::vector<float>& values) {
  std::string text = "[";
  for (float value : values) text += (text.size() > 1 ? ", " : "") + json_number(value);
  return text + "]";
}

Fields fields(const Hyperparameters& h) {
  Fields fields = {
      {"architecture", json_string(name(h.architecture))},
      {"model_name", json_string(h.model_name)},
      {"layers", std::to_string(h.layers)},
      {"hidden", std::to_string(h.hidden)},
      {"feed_forward", std::to_string(h.feed_forward)},
      {"heads", std::to_string(h.heads)},
      {"kv_heads", std::to_string(h.kv_heads)},
      {"head_dim", std::to_string(h.head_dim)},
      {"vocabulary", std::to_string(h.vocabulary)},
      {"context_length", std::to_string(h.context_length)},
      {"rms_epsilon", json_number(h.rms_epsilon)},
      {"tied_embeddings", json(h.tied_embeddings)},
      {"qkv_bias", json(h.qkv_bias)},
      {"qk_norm", json(h.qk_norm)},
      {"rope.base", json_number(h.rope.base)},
      {"rope.dims", std::to_string(h.rope.dims)},
      {"rope.pairing", json_string(name(h.rope.pairing))},
      {"rope.scaling", json_string(name(h.rope.scaling))},
  };
  if (h.rope.scaling != RopeScaling::none) fields.push_back({"rope.factor", json_number(h.rope.factor)});
  if (h.rope.scaling == RopeScaling::llama3) {
    fields.push_back({"rope.low_frequency_factor", json_number(h.rope.low_frequency_factor)});
    fields.push_back({"rope.high_frequency_factor", json_number(h.rope.high_frequency_factor)});
    fields.push_back({"rope.original_context_length", std::to_string(h.rope.original_context_length)});
  }
  if (!h.rope.frequency_factors.empty()) {
    fields.push_back({"rope.frequency_factors", json(h.rope.frequency_factors)});
  }
  return fields;
}

}  // namespace

void print_hyperparameters(std::ostream& out, const Hyperparameters& hyperparameters) {
  out << "[hyperparameters]\n";
  for (const auto& [name, value] : fields(hyperparameters)) {
    // Names of files may hold anything; the rest is numbers and words of ours.
    const bool text = value[0] == '"';
    out << name << ": " << (text ? escaped(value.substr(1, value.size() - 2)) : value) << "\n";
  }
}

void print_hyperparameters_json(std::ostream& out, const Hyperparameters& hyperparameters) {
  out << "\"hyperparameters\": {";
  const char* separator = "";
  for (const auto& [name, value] : fields(hyperparameters)) {
    out << separator << json_string(name) << ": " << value;
    separator = ", ";
  }
  out << "}";
}

}  // namespace rung
