// config.json: what is accepted describes a model that can be computed.
#include <cmath>
#include <sstream>

#include "commands/inspect_hyperparameters.h"
#include "fuzz.h"
#include "model_file/config_json.h"

using namespace rung;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string path = fuzz::write_file("config.json", fuzz::text(data, size));
  Hyperparameters h;
  {
    const fuzz::MemoryBound bound(size);
    if (!fuzz::accepted([&] { h = read_config_json(path); })) return 0;
  }
  fuzz::require(
      h.layers > 0 && h.hidden > 0 && h.vocabulary > 0 && h.context_length > 0 && h.feed_forward > 0,
      "every size is positive");
  fuzz::require(
      h.heads > 0 && h.kv_heads > 0 && h.heads % h.kv_heads == 0 && h.head_dim > 0 && h.head_dim % 2 == 0,
      "heads divide into groups, and head_dim into pairs");
  fuzz::require(h.rms_epsilon >= 0 && std::isfinite(h.rms_epsilon), "epsilon is a number of at least 0");
  std::ostringstream text, json;
  print_hyperparameters(text, h);
  print_hyperparameters_json(json, h);
  fuzz::check_json("{" + json.str() + "}");
  return 0;
}
