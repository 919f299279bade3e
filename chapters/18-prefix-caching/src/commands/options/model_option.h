// The option -m/--model, which every command that needs a model has.
#pragma once

#include <memory>
#include <string>

#include "rung/command_line.h"

namespace rung {

class ModelFile;

struct ModelOption {
  std::string path;  // once add() was called: $RUNG_MODEL or the default model, until the user says otherwise

  void add(CommandLine& line);
  // Opens it. Throws Error; if the default model has not been downloaded, the error says how to get it.
  std::shared_ptr<const ModelFile> open() const;
};

}  // namespace rung
