// The option -m/--model, and what to say when the default model is missing.
#include "commands/options/model_option.h"

#include <cstdlib>
#include <filesystem>

#include "model_file/model_file.h"
#include "rung/error.h"

namespace rung {

namespace {

constexpr const char* kDefaultModel = "models/SmolLM2-135M-Instruct.Q4_1.gguf";

}  // namespace

void ModelOption::add(CommandLine& line) {
  const char* chosen = std::getenv("RUNG_MODEL");
  path = chosen != nullptr && *chosen != '\0' ? chosen : kDefaultModel;
  line.option("-m,--model", path,
              "Model: a GGUF file, or a folder with safetensors ($RUNG_MODEL sets the default)");
}

std::shared_ptr<const ModelFile> ModelOption::open() const {
  if (path == kDefaultModel && !std::filesystem::exists(path)) {
    fail(path, ": the default model is not there: run ./run.sh once, which downloads it, or pass --model");
  }
  return open_model(path);
}

}  // namespace rung
