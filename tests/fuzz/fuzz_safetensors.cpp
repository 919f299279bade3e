// A safetensors file: size, JSON header, data.
#include <sstream>

#include "commands/inspect_safetensors.h"
#include "commands/inspect_tensors.h"
#include "fuzz.h"

using namespace rung;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string path = fuzz::write_file("input.safetensors", fuzz::text(data, size));
  std::unique_ptr<SafetensorsFolder> weights;
  {
    const fuzz::MemoryBound bound(size);
    if (!fuzz::accepted([&] { weights = std::make_unique<SafetensorsFolder>(path); })) return 0;
  }
  std::ostringstream text, files, tensors;
  print_header(text, *weights);
  print_metadata(text, *weights);
  print_tensors(text, *weights, 0);
  print_files_json(files, *weights);
  fuzz::check_json("{" + files.str() + "}");
  print_tensors_json(tensors, *weights, 0);
  fuzz::check_json("{" + tensors.str() + "}");
  size_t shown = 0;
  for (const SafetensorsFolder::Item& item : weights->tensors()) {
    if (++shown > 8) break;
    const std::string name(item.entry->name);
    fuzz::accepted([&] {
      const Tensor tensor = read_tensor(*weights, path, name);
      std::ostringstream shown_text, json;
      print_tensor(shown_text, name, tensor);
      print_tensor_json(json, name, tensor);
      fuzz::check_json("{" + json.str() + "}");
    });
  }
  return 0;
}
