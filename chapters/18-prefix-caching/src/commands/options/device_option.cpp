// The flags --device, --threads and --batch-invariant.
#include "commands/options/device_option.h"

#include <iostream>

#include "rung/cuda.h"
#include "rung/error.h"

namespace rung {

namespace {

// True where the program was built for the emulator: right for tests, far too slow to be anybody's default.
constexpr bool kEmulated =
#ifdef RUNG_CUDA_EMULATED
    true;
#else
    false;
#endif

}  // namespace

void DeviceOption::add(CommandLine& line) {
  line.option("--device", device,
              "Where to compute: cpu or cuda. Default: cuda where the program was built for it and a GPU "
              "answers, else cpu.");
  line.choices({"cpu", "cuda"});
  line.option("-t,--threads", threads, "CPU threads; 0 uses one for each core.");
  line.range(0, 1024);
  line.flag(
      "--batch-invariant", batch_invariant,
      "On a GPU: compute a request to the same bits whatever runs beside it. Slower. (A CPU always does.)");
}

std::string DeviceOption::resolve() const {
  std::string chosen = device;
  if (chosen.empty()) chosen = !kEmulated && cuda_device_count() > 0 ? "cuda" : "cpu";
  if (chosen == "cuda") {
    if (cuda_device_count() == 0) fail("--device cuda: no CUDA device answers; use --device cpu");
    cudaDeviceProp properties{};
    RUNG_CUDA_CHECK(cudaGetDeviceProperties(&properties, 0));
    std::cerr << "device: cuda (" << (kEmulated ? "emulated on the CPU" : properties.name) << ")\n";
  } else {
    std::cerr << "device: cpu\n";
  }
  return chosen;
}

}  // namespace rung
