// Flags that choose where operations run, and how: --device, --threads and --batch-invariant.
#pragma once

#include <string>

#include "rung/command_line.h"
#include "rung/device.h"

namespace rung {

struct DeviceOption {
  std::string device;  // "cpu" or "cuda"; empty: cuda where a GPU answers, else cpu (never the emulator)
  int threads = 0;     // 0: one for each core
  bool batch_invariant = false;

  void add(CommandLine& line);

  // "cpu" or "cuda", the default resolved; says on stderr which. Throws Error where cuda was asked for and no
  // device answers.
  std::string resolve() const;

  // Calls run(device) with a Cpu& or a Cuda& and returns what it returns.
  template <class F>
  auto visit(F run) const {
    if (resolve() == "cuda") {
      Cuda device;
      device.batch_invariant = batch_invariant;
      return run(device);
    }
    Cpu device(threads);
    return run(device);
  }
};

}  // namespace rung
