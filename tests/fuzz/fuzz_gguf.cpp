// A GGUF file: what opens can be inspected in every form, and makes a model and a tokenizer or a clear error.
#include <sstream>

#include "commands/inspect_hyperparameters.h"
#include "commands/inspect_metadata.h"
#include "commands/inspect_tensors.h"
#include "fuzz.h"
#include "model_file/gguf_model.h"
#include "tokenizer/tokenizer.h"

using namespace rung;

namespace {

void inspect(const GgufFile& file) {
  std::ostringstream text, metadata, tensors;
  print_header(text, file.metadata().header());
  print_metadata(text, file.metadata(), false);
  print_metadata(text, file.metadata(), true);
  print_tensors(text, file, 0);
  print_metadata_json(metadata, file.metadata());
  fuzz::check_json("{" + metadata.str() + "}");
  print_tensors_json(tensors, file, 0);
  fuzz::check_json("{" + tensors.str() + "}");
}

void inspect_tensors(const GgufFile& file) {
  size_t shown = 0;
  for (const GgufTensor& entry : file.tensors()) {
    if (++shown > 8) break;
    const std::string name(entry.name);
    fuzz::accepted([&] {
      const Tensor* tensor = file.find(name);
      fuzz::require(tensor != nullptr, "a tensor of the directory is found by its name");
      fuzz::require(tensor->bytes() == entry.bytes, "a tensor has the bytes that the directory gives it");
      std::ostringstream text, json;
      print_tensor(text, name, *tensor);
      print_tensor_json(json, name, *tensor);
      fuzz::check_json("{" + json.str() + "}");
    });
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string path = fuzz::write_file("input.gguf", fuzz::text(data, size));
  std::shared_ptr<const GgufFile> file;
  {
    const fuzz::MemoryBound bound(size);
    if (!fuzz::accepted([&] { file = GgufFile::open(path); })) return 0;
  }
  inspect(*file);
  inspect_tensors(*file);
  std::unique_ptr<GgufModel> model;
  {
    const fuzz::MemoryBound bound(size);
    if (!fuzz::accepted([&] { model = std::make_unique<GgufModel>(path); })) return 0;
  }
  std::ostringstream json;
  print_hyperparameters_json(json, model->hyperparameters());
  fuzz::check_json("{" + json.str() + "}");
  const fuzz::MemoryBound bound(size);
  fuzz::accepted([&] { load_tokenizer(*model); });
  return 0;
}
