// `rung inspect FILE`: what a model file says about itself, and what is in its tensors.
#include <iostream>

#include "commands/inspect_metadata.h"
#include "commands/inspect_tensors.h"
#include "commands/json_text.h"
#include "model_file/gguf_file.h"
#include "rung/command_line.h"
#include "rung/error.h"

namespace rung {

namespace {

class Inspect : public Command {
 public:
  const char* name() const override { return "inspect"; }
  const char* summary() const override { return "Show what a model file says about itself"; }

  void options(CommandLine& line) override {
    line.option("-m,--model,file", path_, "The model: a GGUF file");
    line.flag("--full", full_, "Show long strings and arrays whole");
    line.flag("--tensors", tensors_, "List the tensors");
    line.option("--limit", limit_, "List at most this many tensors (0: all)");
    line.option("--tensor", tensor_, "Show shape, type and values of the tensor of this name");
    line.excludes("--tensors");
    line.flag("--json", json_, "Write one JSON object, metadata in full");
  }

  int run() override {
    if (path_.empty()) fail("inspect: expected the path of a model: rung inspect PATH");
    if (limit_ < 0) fail("--limit is ", limit_, ", expected at least 0");
    const std::shared_ptr<const GgufFile> file = GgufFile::open(path_);
    if (json_) {
      print_json(*file);
    } else if (!tensor_.empty()) {
      print_tensor(std::cout, tensor_, tensor(*file));
    } else if (tensors_) {
      print_tensors(std::cout, *file, limit_);
    } else {
      print_header(std::cout, file->metadata().header());
      print_metadata(std::cout, file->metadata(), full_);
    }
    return 0;
  }

 private:
  const Tensor& tensor(const GgufFile& file) const {
    const Tensor* found = file.find(tensor_);
    if (found == nullptr) {
      fail(path_, ": there is no tensor ", quoted(tensor_), " (inspect --tensors lists the ",
           file.tensors().size(), " that there are)");
    }
    return *found;
  }

  void print_json(const GgufFile& file) const {
    const Tensor* shown = tensor_.empty() ? nullptr : &tensor(file);  // an error comes before any output
    std::cout << "{\"path\": " << json_string(path_) << ", \"format\": \"gguf\", ";
    print_metadata_json(std::cout, file.metadata());
    if (tensors_) {
      std::cout << ", ";
      print_tensors_json(std::cout, file, limit_);
    }
    if (shown != nullptr) {
      std::cout << ", ";
      print_tensor_json(std::cout, tensor_, *shown);
    }
    std::cout << "}\n";
  }

  std::string path_, tensor_;
  bool full_ = false, tensors_ = false, json_ = false;
  int64_t limit_ = 0;
};

RUNG_COMMAND(Inspect);

}  // namespace

}  // namespace rung
