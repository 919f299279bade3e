// `rung inspect PATH`: what a model says about itself, and what is in its tensors.
#include <iostream>

#include "commands/inspect_hyperparameters.h"
#include "commands/inspect_metadata.h"
#include "commands/inspect_safetensors.h"
#include "commands/inspect_tensors.h"
#include "commands/json_text.h"
#include "model_file/gguf_file.h"
#include "model_file/model_file.h"
#include "rung/command_line.h"
#include "rung/error.h"

namespace rung {

namespace {

class Inspect : public Command {
 public:
  const char* name() const override { return "inspect"; }
  const char* summary() const override { return "Show what a model file says about itself"; }

  void options(CommandLine& line) override {
    line.option("-m,--model,file", path_, "The model: a GGUF file, or a folder with safetensors");
    line.flag("--full", full_, "Show long strings and arrays whole");
    line.flag("--hyperparameters", hyperparameters_, "Show the model's shape as Rung understands it");
    line.flag("--tensors", tensors_, "List the tensors");
    line.option("--limit", limit_, "List at most this many tensors (0: all)");
    line.option("--tensor", tensor_, "Show shape, type and values of the tensor of this name");
    line.excludes("--tensors");
    line.flag("--json", json_, "Write one JSON object, metadata in full");
  }

  int run() override {
    if (path_.empty()) fail("inspect: expected the path of a model: rung inspect PATH");
    if (limit_ < 0) fail("--limit is ", limit_, ", expected at least 0");
    std::shared_ptr<const ModelFile> model;
    if (hyperparameters_) model = open_model(path_);  // an error comes before any output
    if (is_safetensors_path(path_)) {
      inspect_safetensors(model.get());
    } else {
      inspect_gguf(model.get());
    }
    return 0;
  }

 private:
  void inspect_gguf(const ModelFile* model) const {
    const std::shared_ptr<const GgufFile> file = GgufFile::open(path_);
    const Tensor* shown = tensor_.empty() ? nullptr : &tensor(*file);
    if (json_) {
      std::cout << "{\"path\": " << json_string(path_) << ", \"format\": \"gguf\", ";
      print_metadata_json(std::cout, file->metadata());
      if (tensors_) {
        std::cout << ", ";
        print_tensors_json(std::cout, *file, limit_);
      }
      finish_json(model, shown);
      return;
    }
    if (model != nullptr) print_hyperparameters(std::cout, model->hyperparameters());
    if (shown != nullptr) print_tensor(std::cout, tensor_, *shown);
    if (tensors_) print_tensors(std::cout, *file, limit_);
    if (model == nullptr && shown == nullptr && !tensors_) {
      print_header(std::cout, file->metadata().header());
      print_metadata(std::cout, file->metadata(), full_);
    }
  }

  void inspect_safetensors(const ModelFile* model) const {
    const SafetensorsFolder weights(path_);
    Tensor shown;
    if (!tensor_.empty()) shown = read_tensor(weights, path_, tensor_);
    if (json_) {
      std::cout << "{\"path\": " << json_string(path_) << ", \"format\": \"safetensors\", ";
      print_files_json(std::cout, weights);
      if (tensors_) {
        std::cout << ", ";
        print_tensors_json(std::cout, weights, limit_);
      }
      finish_json(model, tensor_.empty() ? nullptr : &shown);
      return;
    }
    if (model != nullptr) print_hyperparameters(std::cout, model->hyperparameters());
    if (!tensor_.empty()) print_tensor(std::cout, tensor_, shown);
    if (tensors_) print_tensors(std::cout, weights, limit_);
    if (model == nullptr && tensor_.empty() && !tensors_) {
      print_header(std::cout, weights);
      print_metadata(std::cout, weights);
    }
  }

  void finish_json(const ModelFile* model, const Tensor* shown) const {
    if (model != nullptr) {
      std::cout << ", ";
      print_hyperparameters_json(std::cout, model->hyperparameters());
    }
    if (shown != nullptr) {
      std::cout << ", ";
      print_tensor_json(std::cout, tensor_, *shown);
    }
    std::cout << "}\n";
  }

  const Tensor& tensor(const GgufFile& file) const {
    const Tensor* found = file.find(tensor_);
    if (found == nullptr) {
      fail(path_, ": there is no tensor ", rung::quoted(tensor_), " (inspect --tensors lists the ",
           file.tensors().size(), " that there are)");
    }
    return *found;
  }

  std::string path_, tensor_;
  bool full_ = false, hyperparameters_ = false, tensors_ = false, json_ = false;
  int64_t limit_ = 0;
};

RUNG_COMMAND(Inspect);

}  // namespace

}  // namespace rung
