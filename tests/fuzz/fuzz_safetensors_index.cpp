// The index of a model in shards (model.safetensors.index.json), beside two shards that are in order.
#include <sstream>

#include "commands/inspect_safetensors.h"
#include "fuzz.h"

using namespace rung;

namespace {

// A safetensors file with one F32 tensor of two elements for each name.
std::string shard(const std::vector<std::string>& names) {
  std::string header;
  for (size_t i = 0; i < names.size(); ++i) {
    header += (header.empty() ? "{\"" : ",\"") + names[i] +
              R"(":{"dtype":"F32","shape":[2],"data_offsets":[)" + std::to_string(8 * i) + "," +
              std::to_string(8 * i + 8) + "]}";
  }
  header += "}";
  std::string size(8, '\0');
  size[0] = static_cast<char>(header.size() & 255);
  size[1] = static_cast<char>(header.size() >> 8);
  return size + header + std::string(8 * names.size(), '\0');
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const bool written = [] {
    fuzz::write_file("a.safetensors", shard({"x", "model.norm.weight"}));
    fuzz::write_file("b.safetensors", shard({"y", "x"}));
    return true;
  }();
  fuzz::require(written, "the shards are there");
  fuzz::write_file("model.safetensors.index.json", fuzz::text(data, size));
  std::unique_ptr<SafetensorsFolder> weights;
  {
    const fuzz::MemoryBound bound(size);
    if (!fuzz::accepted([&] { weights = std::make_unique<SafetensorsFolder>(fuzz::folder()); })) return 0;
  }
  fuzz::require(weights->tensors().size() <= 3, "the index gives no more tensors than the shards hold");
  std::ostringstream text, files, tensors;
  print_header(text, *weights);
  print_metadata(text, *weights);
  print_tensors(text, *weights, 0);
  print_files_json(files, *weights);
  fuzz::check_json("{" + files.str() + "}");
  print_tensors_json(tensors, *weights, 0);
  fuzz::check_json("{" + tensors.str() + "}");
  return 0;
}
