// The flag --weights: the type in which matrices are kept on Cuda.
#pragma once

#include <string>

#include "model/weights.h"
#include "rung/command_line.h"

namespace rung {

struct WeightOption {
  std::string text = "stored";

  void add(CommandLine& line);
  WeightType type() const;
};

}  // namespace rung
