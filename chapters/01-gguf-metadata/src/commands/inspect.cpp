// `rung inspect FILE`: what a model file says about itself.
#include <iostream>

#include "commands/inspect_metadata.h"
#include "commands/json_text.h"
#include "model_file/gguf_metadata.h"
#include "rung/command_line.h"
#include "rung/error.h"
#include "rung/mapped_file.h"

namespace rung {

namespace {

class Inspect : public Command {
 public:
  const char* name() const override { return "inspect"; }
  const char* summary() const override { return "Show what a model file says about itself"; }

  void options(CommandLine& line) override {
    line.option("-m,--model,file", path_, "The model: a GGUF file");
    line.flag("--full", full_, "Show long strings and arrays whole");
    line.flag("--json", json_, "Write one JSON object, everything in full");
  }

  int run() override {
    if (path_.empty()) fail("inspect: expected the path of a model: rung inspect PATH");
    const MappedFile file(path_);
    ByteReader reader(file.bytes(), path_);
    const GgufMetadata metadata = read_gguf_metadata(reader);
    if (json_) {
      std::cout << "{\"path\": " << json_string(path_) << ", \"format\": \"gguf\", ";
      print_metadata_json(std::cout, metadata);
      std::cout << "}\n";
    } else {
      print_header(std::cout, metadata.header());
      print_metadata(std::cout, metadata, full_);
    }
    return 0;
  }

 private:
  std::string path_;
  bool full_ = false;
  bool json_ = false;
};

RUNG_COMMAND(Inspect);

}  // namespace

}  // namespace rung
